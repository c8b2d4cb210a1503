import * as z from 'zod'
import { documentedAs } from '../../runtime/input.ts'
import { fail } from '../services.ts'
import type { Container as Listed } from './pct.ts'

/** The number of a container. The container tool returns it as text with any number of digits. */
export const Vmid = z.number().meta({
  id: 'Vmid',
  description: 'The number of a container.',
  examples: [101],
  override: { type: 'integer' },
})

/** The number in an address. Text that is not a number means a container that does not exist. */
export const GivenVmid = documentedAs(Vmid, z.string())

const figure = z.number().nullable()

/**
 * A container of the host. `cpu` is the used share of its `cpus`, from 0 to 1; `mem` and `disk` are bytes; `uptime` is
 * seconds. Unknown values are null, and so is the `lock` of an unlocked container.
 */
export const Container = z.object({
  vmid: Vmid,
  name: z.string(),
  status: z.string(),
  lock: z.string().nullable(),
  cpu: figure,
  cpus: figure,
  mem: figure,
  maxmem: figure,
  disk: figure,
  maxdisk: figure,
  uptime: figure,
  tags: z.array(z.string()).nullable(),
})
export type Container = z.infer<typeof Container>

/** The same time limit as for the API: a person waits. */
export const IN_TIME = { timeoutMs: 10_000 }

/** Converts a container from the container tool's list, which has no usage figures. */
export function withoutFigures({ vmid, name, status, lock = null }: LockOrNone): Container {
  const figures = { cpu: null, cpus: null, mem: null, maxmem: null, disk: null, maxdisk: null, uptime: null }
  return { vmid, name, status, lock, ...figures, tags: null }
}

type LockOrNone = Omit<Listed, 'lock'> & { lock?: string | null }

/**
 * Administrators set this lock to inspect a stopped container. The hypervisor starts and stops containers that have it.
 */
const HARMLESS = 'mounted'

/**
 * Returns the number of a container that can be started or stopped. Throws `container_missing` or `container_locked`.
 */
export function startable(containers: readonly Pick<Container, 'vmid' | 'lock'>[], text: string): number {
  const found = containers.find(({ vmid }) => String(vmid) === text)
  if (!found) throw fail('container_missing')
  if (found.lock && found.lock !== HARMLESS) throw fail('container_locked', { values: { lock: found.lock } })
  return found.vmid
}

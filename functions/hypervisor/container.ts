import * as z from 'zod'
import { Failure } from '../../runtime/errors.ts'
import { shownAs } from '../../runtime/shown-as.ts'
import type { Container as Listed } from '../updates/containers.ts'

/** Names a container. The container tool gives it as text, of any number of digits. */
export const Vmid = z.number().meta({
  id: 'Vmid',
  description: 'Number of a container.',
  examples: [101],
  override: { type: 'integer' },
})

/** In an address: one that is no number is a container that does not exist. */
export const GivenVmid = shownAs(Vmid, z.string())

const figure = z.number().nullable()

/**
 * A container of the host. `cpu` is the used share of its `cpus`, from 0 to 1; `mem` and `disk` are bytes, `uptime` is
 * seconds. What is not known is null; so is the `lock` of one that is not locked.
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

/** A person waits; as long as for the API. */
export const IN_TIME = { timeoutMs: 10_000 }

/** A container as the container tool lists it, which knows no figures. */
export function withoutFigures({ vmid, name, status, lock = null }: LockOrNone): Container {
  const figures = { cpu: null, cpus: null, mem: null, maxmem: null, disk: null, maxdisk: null, uptime: null }
  return { vmid, name, status, lock, ...figures, tags: null }
}

type LockOrNone = Omit<Listed, 'lock'> & { lock?: string | null }

/** With this lock, which a person sets to look into a stopped container, the hypervisor itself starts and stops it. */
const HARMLESS = 'mounted'

/**
 * The number of a container that can be started or stopped. Throws `container_missing` when none of them has it, and
 * `container_locked`.
 */
export function startable(containers: readonly Pick<Container, 'vmid' | 'lock'>[], text: string): number {
  const found = containers.find(({ vmid }) => String(vmid) === text)
  if (!found) throw new Failure('container_missing')
  if (found.lock && found.lock !== HARMLESS) throw new Failure('container_locked', { values: { lock: found.lock } })
  return found.vmid
}

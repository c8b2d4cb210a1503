import * as z from 'zod'
import { NodeName } from './api-containers.ts'
import { ApiRefusal, type ApiRequests } from './api-requests.ts'
import { Upid } from './api-tasks.ts'

/*
 * The snapshots of one container by the API of Proxmox VE 7 and later. Each change starts a task, whose id is returned.
 * Rights of the token: VM.Audit to read, VM.Snapshot to change, Datastore.Audit for `fullStorages`.
 */

/** A container on a node. */
export interface OnNode {
  node: string
  vmid: string
}

/** A snapshot; one whose making or removal was interrupted is not whole. */
export interface ListedSnapshot {
  name: string
  whole: boolean
}

const pathOf = ({ node, vmid }: OnNode) => `/nodes/${node}/lxc/${vmid}`

/** Returns the node with this host name, which its short name is; undefined when no node has it. */
export async function nodeNamed({ ask }: ApiRequests, hostname: string): Promise<string | undefined> {
  const nodes = await ask(z.array(z.object({ node: NodeName })), '/nodes')
  const [short] = hostname.toLowerCase().split('.')
  return nodes.find(({ node }) => node.toLowerCase() === short)?.node
}

const Word = z
  .string()
  .regex(/^[a-z][a-z-]{0,39}$/)
  .nullish()
const Current = z.object({ status: Word, lock: Word })

/** Returns whether the container runs, and its lock. */
export async function currentState({ ask }: ApiRequests, place: OnNode): Promise<z.infer<typeof Current>> {
  return ask(Current, `${pathOf(place)}/status/current`)
}

const Snapshots = z.array(z.object({ name: z.string().max(200), snapstate: z.string().max(200).nullish() }))

/** Returns the snapshots of the container. */
export async function listSnapshots({ ask }: ApiRequests, place: OnNode): Promise<ListedSnapshot[]> {
  const listed = await ask(Snapshots, `${pathOf(place)}/snapshot`)
  return listed.flatMap(({ name, snapstate }) => (name === 'current' ? [] : [{ name, whole: !snapstate }]))
}

const Feature = z.object({ hasFeature: z.union([z.number(), z.string(), z.boolean()]).nullish() })

/** Returns whether the storages of the container can make snapshots, in the hypervisor's own opinion. */
export async function canSnapshot({ ask }: ApiRequests, place: OnNode): Promise<boolean> {
  const { hasFeature } = await ask(Feature, `${pathOf(place)}/feature?feature=snapshot`)
  return Number(hasFeature) === 1
}

/** Starts the making of a snapshot. */
export function makeSnapshot({ ask }: ApiRequests, place: OnNode, snapname: string): Promise<string> {
  const form = { snapname, description: 'ops-panel: before an upgrade' }
  return ask(Upid, `${pathOf(place)}/snapshot`, { method: 'POST', form })
}

/** Starts the removal of a snapshot. With `force`, it is removed from the configuration whatever its storage says. */
export function removeSnapshot(
  { ask }: ApiRequests,
  place: OnNode,
  name: string,
  { force }: { force: boolean },
): Promise<string> {
  const query = force ? '?force=1' : ''
  return ask(Upid, `${pathOf(place)}/snapshot/${encodeURIComponent(name)}${query}`, { method: 'DELETE' })
}

/** Starts a rollback. The hypervisor starts the container afterwards, in another task, unless it is too old to. */
export async function rollBack({ ask }: ApiRequests, place: OnNode, name: string): Promise<string> {
  const path = `${pathOf(place)}/snapshot/${encodeURIComponent(name)}/rollback`
  try {
    return await ask(Upid, path, { method: 'POST', form: { start: '1' } })
  } catch (error) {
    if (!(error instanceof ApiRefusal && /\bstart : property is not defined/.test(error.reason))) throw error
    return ask(Upid, path, { method: 'POST', form: {} })
  }
}

/** Starts the container. It needs VM.PowerMgmt. */
export function startContainer({ ask }: ApiRequests, place: OnNode): Promise<string> {
  return ask(Upid, `${pathOf(place)}/status/start`, { method: 'POST' })
}

const Configuration = z.record(z.string(), z.unknown())
const Bytes = z.coerce.number().nonnegative().catch(0)
const Storage = z.object({ type: z.string().max(100), total: Bytes, used: Bytes })
/** Storages whose snapshots share the space of a pool. The API tells how full others are, but not whether that matters. */
const POOLS = ['lvmthin', 'zfspool']
const STORAGE = /^(?<name>[A-Za-z][A-Za-z0-9._-]{0,99}):/
/** More storages than the volumes of one container are on. */
const MOST_STORAGES = 10

/** Returns how full the pools are that hold the container's volumes, in percent. Storages that the token may not read are left out. */
export async function fullStorages(
  { ask }: ApiRequests,
  place: OnNode,
): Promise<{ storage: string; percent: number }[]> {
  const configuration = await ask(Configuration, `${pathOf(place)}/config`)
  const storages = Object.entries(configuration).flatMap(([key, value]) => {
    const name = typeof value === 'string' ? STORAGE.exec(value)?.groups?.name : undefined
    return name !== undefined && /^(rootfs|mp\d{1,3})$/.test(key) ? [name] : []
  })
  const found: { storage: string; percent: number }[] = []
  for (const storage of [...new Set(storages)].slice(0, MOST_STORAGES)) {
    try {
      const { type, total, used } = await ask(Storage, `/nodes/${place.node}/storage/${storage}/status`)
      const percent = Math.min(100, Math.floor((used * 100) / total))
      if (POOLS.includes(type) && total > 0) found.push({ storage, percent })
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error
    }
  }
  return found
}

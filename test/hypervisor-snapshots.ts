import type { IncomingMessage, ServerResponse } from 'node:http'

export interface TestSnapshot {
  name: string
  snapstate?: string
}

export type StepType = 'vzsnapshot' | 'vzdelsnapshot' | 'vzrollback' | 'vzstart'

/** A change of a container that a task carries out. */
export interface TestStep {
  type: StepType
  vmid: string
  /** The snapshot; empty for a start. */
  name: string
}

/** A task that was begun for a snapshot. */
export interface BegunTask {
  lines: string[]
  /** Undefined while it runs. */
  exitstatus: string | undefined
}

/** The snapshots of the stand-in's containers, and its changes of them. */
export interface TestSnapshots {
  /** By container. */
  listed: Map<string, TestSnapshot[]>
  /** The changes that were begun, as `vzsnapshot 101 <name>`. */
  begun: string[]
  /** Whether the storages of containers can make snapshots. */
  feature: unknown
  /** Whether a rollback takes `start`, as Proxmox VE 7 and later do. */
  knowsStart: boolean
  /** The configuration of each container, and the storages by name. */
  config: Record<string, unknown>
  storages: Record<string, { type: string; total: unknown; used: unknown }>
  /** Does a change and returns its log and how it ends; by default at once, in `listed` and `status`. */
  perform(step: TestStep): Promise<BegunTask>
  /** Whether the change of a container is told by somebody else; by default `listed` is. */
  read?(vmid: string): Promise<{ snapshots: TestSnapshot[]; status: string; lock?: string | undefined }>
}

/** The part of the stand-in on which its snapshots rely. */
export interface Around {
  rights(path: string): Record<string, number>
  send(response: ServerResponse, data: unknown): void
  refuse(response: ServerResponse, status: number, reason: string, errors?: Record<string, string>): void
  /** Begins a task and returns its id. */
  begin(type: StepType, vmid: string, task: Promise<BegunTask>): string
  container(vmid: string): { status: string; lock?: string } | undefined
}

/** Returns snapshots without any yet, and the answers to requests about them. */
export function createSnapshots(around: Around) {
  const { send, refuse } = around
  const snapshots: TestSnapshots = {
    listed: new Map(),
    begun: [],
    feature: 1,
    knowsStart: true,
    config: { rootfs: 'local-lvm:vm-101-disk-0,size=4G', hostname: 'web', mp0: '/srv/shared,mp=/srv' },
    storages: { 'local-lvm': { type: 'lvmthin', total: 1_000, used: 412 } },
    perform: async (step) => {
      const reason = changed(step)
      return reason === undefined
        ? { lines: [`${step.type} ${step.name}`, 'TASK OK'], exitstatus: 'OK' }
        : { lines: [`TASK ERROR: ${reason}`], exitstatus: reason }
    },
  }
  const of = (vmid: string) => snapshots.listed.get(vmid) ?? []

  /** Changes what is listed, as the hypervisor would; returns why it does not. */
  const changed = ({ type, vmid, name }: TestStep): string | undefined => {
    const found = of(vmid).find((each) => each.name === name)
    const place = around.container(vmid)
    if (place?.lock) return `CT is locked (${place.lock})`
    if (type === 'vzsnapshot' && found) return `snapshot name '${name}' already used`
    if ((type === 'vzdelsnapshot' || type === 'vzrollback') && !found) return `snapshot '${name}' does not exist`
    if (type === 'vzsnapshot') snapshots.listed.set(vmid, [...of(vmid), { name }])
    if (type === 'vzdelsnapshot')
      snapshots.listed.set(
        vmid,
        of(vmid).filter((each) => each !== found),
      )
    if (type === 'vzrollback' && place) place.status = 'stopped'
    if (type === 'vzstart' && place) place.status = 'running'
    return undefined
  }

  const begin = (response: ServerResponse, step: TestStep, after?: StepType) => {
    snapshots.begun.push([step.type, step.vmid, step.name].filter((word) => word !== '').join(' '))
    const work = snapshots.perform(step)
    if (after)
      void work.then(({ exitstatus }) => {
        // The worker of a rollback starts the container in a task of its own.
        if (exitstatus === 'OK') around.begin(after, step.vmid, snapshots.perform({ ...step, type: after, name: '' }))
      })
    send(response, around.begin(step.type, step.vmid, work))
  }

  const state = async (vmid: string) => {
    if (snapshots.read) return snapshots.read(vmid)
    const { status = 'stopped', lock } = around.container(vmid) ?? {}
    return { snapshots: of(vmid), status, lock }
  }

  /** Answers a request about a container; false when it is about something else. */
  const answer = async (request: IncomingMessage, response: ServerResponse, parts: readonly string[]) => {
    const { method = '' } = request
    const [vmid = '', what = '', name = '', action = ''] = parts
    const rights = around.rights(`/vms/${vmid}`)
    const lacks = (...needed: string[]) => {
      if (needed.some((right) => right in rights)) return false
      refuse(response, 403, `Permission check failed (/vms/${vmid}, ${needed.join('|')})`)
      return true
    }
    const isRead = method === 'GET'
    if (isRead && ['config', 'feature', 'status', 'snapshot'].includes(what)) {
      if (lacks('VM.Audit')) return true
      if (what === 'config') send(response, snapshots.config)
      else if (what === 'feature') send(response, { hasFeature: snapshots.feature })
      else {
        const { snapshots: listed, status, lock } = await state(vmid)
        if (what === 'status') send(response, { vmid: Number(vmid), status, uptime: 5, ...(lock && { lock }) })
        else send(response, [...listed.map((each) => ({ snaptime: 1, description: '', ...each })), { name: 'current' }])
      }
      return true
    }
    if (what === 'snapshot' && method === 'POST' && name === '') {
      const form = await formOf(request)
      if (lacks('VM.Snapshot')) return true
      begin(response, { type: 'vzsnapshot', vmid, name: form.get('snapname') ?? '' })
      return true
    }
    if (what === 'snapshot' && method === 'DELETE') {
      if (!lacks('VM.Snapshot')) begin(response, { type: 'vzdelsnapshot', vmid, name })
      return true
    }
    if (what === 'snapshot' && method === 'POST' && action === 'rollback') {
      const form = await formOf(request)
      if (lacks('VM.Snapshot', 'VM.Snapshot.Rollback')) return true
      const unknown = 'property is not defined in schema and the schema does not allow additional properties'
      if (form.has('start') && !snapshots.knowsStart)
        refuse(response, 400, 'Parameter verification failed.', { start: unknown })
      else begin(response, { type: 'vzrollback', vmid, name }, form.get('start') === '1' ? 'vzstart' : undefined)
      return true
    }
    return false
  }

  const storage = (response: ServerResponse, name: string) => {
    const found = snapshots.storages[name]
    if (!('Datastore.Audit' in around.rights(`/storage/${name}`)))
      return refuse(
        response,
        403,
        `Permission check failed (/storage/${name}, Datastore.Audit|Datastore.AllocateSpace)`,
      )
    if (!found) return refuse(response, 500, `storage '${name}' does not exist`)
    send(response, { active: 1, enabled: 1, content: 'rootdir', ...found })
  }

  return { snapshots, answer, storage }
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return new URLSearchParams(Buffer.concat(pieces).toString())
}

import { expect, vi } from 'vitest'
import * as z from 'zod'
import type { Caller } from './client.ts'
import { inside, rig } from './rig.ts'

/** A container. 103 is stopped when the host has started. */
export type Container = '101' | '102' | '103'

/** Runs a shell script as root in a container. */
export const within = (id: Container, script: string) => rig('in', id, 'sh', '-c', script)

const Started = z.looseObject({ job_id: z.string() })
const Planned = z.looseObject({ id: z.string() })
const Change = z.looseObject({
  kind: z.string(),
  name: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  state: z.string(),
})
const Protected = z.looseObject({
  job_id: z.string(),
  status: z.string(),
  exit_code: z.number().nullable(),
  error_code: z.string().nullable(),
  phase: z.string().nullable(),
  outcome: z.string().nullable(),
  snapshot: z.looseObject({ name: z.string(), kind: z.string(), present: z.boolean() }).nullable(),
  regressions: z.array(z.object({ kind: z.string(), name: z.string(), message: z.string() })),
  unprotected: z.string().nullable(),
  reason: z.string().nullable(),
  outage_seconds: z.number().nullable(),
  decided: z.looseObject({ choice: z.string(), job_id: z.string().nullable() }).nullable(),
  phases: z.array(z.object({ phase: z.string(), at: z.string() })),
  comparison: z.array(Change).nullable(),
  output: z.string(),
})
export type Protected = z.infer<typeof Protected>

/** The default policy, with as short a pause as there may be. */
export const POLICY = {
  before: 'auto',
  backup_storage: null,
  keep: 3,
  on_failure: 'ask',
  settle_seconds: 5,
  probes: [],
} as const

/** The longest protected run: a busy machine, two looks and a rollback. */
const LONGEST_MS = 180_000

/** The phases of a protected upgrade that is rolled back. */
export const PHASES = [
  'protecting',
  'measuring',
  'upgrading',
  'settling',
  'comparing',
  'rolling_back',
  'pruning',
] as const
export type Phase = (typeof PHASES)[number]

/** The protected upgrades of one administrator, by default of container 101, on this worker's rig. */
export function protectingAs(caller: Caller, container: Container = '101') {
  const target = `lxc:${container}`
  const record = async (id: string) => Protected.parse((await caller.get(`/api/updates/jobs/${id}`)).body)
  // Some tests run beside each other, where expect.poll does not know whose it is; some services are away for a moment.
  const ended = (id: string) => {
    const look = async () => {
      const job = await record(id)
      expect(job.status).not.toBe('running')
      return job
    }
    return vi.waitFor(look, { timeout: LONGEST_MS, interval: 200 })
  }
  const started = ({ status, body }: { status: number; body: unknown }) => {
    if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`)
    return Started.parse(body).job_id
  }
  const accepted = (answer: { status: number; body: unknown }) => ended(started(answer))
  const begin = async (names: string | readonly string[], policy: object = {}) => {
    const plan = await caller.post('/api/updates/plans', { target, packages: [names].flat() })
    if (plan.status !== 201) throw new Error(`${plan.status} ${JSON.stringify(plan.body)}`)
    const { id } = Planned.parse(plan.body)
    const protection = { ...POLICY, ...policy }
    return started(await caller.post('/api/updates/run', { target, plan: id, protection }))
  }
  return {
    record,
    ended,
    /** Starts an upgrade of packages by a plan, with this policy, and returns the id of its job. */
    begin,
    /** As `begin`, and returns the record of the ended job. */
    upgrade: async (name: string, policy: object = {}) => ended(await begin(name, policy)),
    /** Rolls an upgrade back and returns the record of the job that did it. */
    rollBack: async (id: string, body: object = {}) =>
      accepted(await caller.post(`/api/updates/jobs/${id}/rollback`, body)),
    forget: async (id: string) => accepted(await caller.delete(`/api/updates/jobs/${id}/snapshot`)),
    /** The status and code of an answer that starts no job. */
    async refused(method: 'post' | 'delete', path: string) {
      const { status, body } = await (method === 'post' ? caller.post(path, {}) : caller.delete(path))
      return { status, code: z.looseObject({ code: z.string().optional() }).parse(body).code }
    },
  }
}

/** Makes 2.0 of a package the only one that is offered besides what the base offers; 1.0 is installed. */
export async function offer(name: string): Promise<void> {
  await rig('install', '101', name, '1.0')
  await publish(name, '2.0')
}

export async function publish(name: string, version: string): Promise<void> {
  await rig('publish', '101', name, version)
  await rig('refresh', '101')
}

export const versionOf = (name: string, at: Container = '101') => within(at, `dpkg-query -W -f '\${Version}' ${name}`)
export const stateOf = (unit: string, at: Container = '101') => within(at, `systemctl is-active ${unit} || true`)
export const snapshots = async (of: Container = '101') =>
  (await rig('snapshots', of)).split('\n').filter((name) => name !== '')
export const dpkgOf = () => inside('101', 'sha256sum </var/lib/dpkg/status')

/** When another container was started, what is in its layer, and which snapshots it has. */
export function otherContainer(): Promise<string> {
  return inside(
    'host',
    `pct exec 102 -- cut -d' ' -f22 /proc/1/stat
    find /var/lib/rig/containers/102/upper -printf '%p %s %T@\\n' | sort | sha256sum
    pct listsnapshot 102`,
  )
}

/** The calls of pct and vzdump for one container since the last `calls`, as `snapshot 101 …`. */
export async function callsOf(id: Container): Promise<string[]> {
  const all = (await rig('pct-log')).split('\n').map((line) => line.slice(line.indexOf(' ') + 1))
  return all.filter((call) => call.split(' ')[1] === id)
}

/** The calls of pct and vzdump since the last call, as `snapshot 101 …`. */
export async function calls(): Promise<string[]> {
  const log = await rig('pct-log')
  await inside('host', ': >/var/log/rig-pct.log')
  return log.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(line.indexOf(' ') + 1)]))
}

/** The things that rig-killer takes away. */
export const LOST = [
  expect.objectContaining({ kind: 'unit', name: 'rig-listener.service' }),
  expect.objectContaining({ kind: 'socket', name: 'tcp/7777' }),
]

/** Expects that an upgrade of rig-killer was rolled back for what it took away, and for nothing else. */
export function expectRolledBack(job: Protected): void {
  expect(job).toMatchObject({
    outcome: 'rolled_back',
    phase: 'done',
    error_code: null,
    exit_code: 0,
    unprotected: null,
  })
  expect(job.regressions).toEqual(expect.arrayContaining(LOST))
  expect(job.regressions).toHaveLength(LOST.length)
  expect(job.regressions.map(({ message }) => message).join()).toContain('rig-listener.service')
  expect(job.snapshot).toMatchObject({ name: `panel-${job.job_id}`, kind: 'snapshot', present: true })
}

/** Expects the former rig-killer in container 101, and the service that it takes away. */
export async function expectOld(): Promise<void> {
  expect(await versionOf('rig-killer')).toBe('1.0')
  await expect.poll(() => stateOf('rig-listener'), { timeout: 60_000, interval: 100 }).toBe('active')
  expect(await inside('101', `bash -c 'exec 3<>/dev/tcp/127.0.0.1/7777; cat <&3'`)).toBe('OK')
}

/*
 * The service's side of `API_STEPS`: steps on a container's snapshots by the API of the hypervisor, for a program on the
 * host whose account may not run `pct snapshot`. The token of the API never leaves the service.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../db/libsql/database.ts'
import { readSettings } from '../../db/settings.ts'
import { Failure } from '../../runtime/errors.ts'
import type { Host } from '../../ssh/ssh.ts'
import { type ApiWork, type Changed, LOOK_MS, makeChange } from './api-changes.ts'
import { ApiRefusal, type ApiRequests, withApi } from './api-requests.ts'
import type { OnNode } from './api-snapshots.ts'
import * as endpoints from './api-snapshots.ts'
import { CONTAINER_TOOL } from './pct.ts'
import type { HypervisorSettings } from './settings.ts'
import { findSnapshot, removalChange, rollbackChange, snapshotChange, startChange } from './snapshot-changes.ts'

/** `api_<step>_<at>_<snapshot>`: `<at>` is the time of the question by the clock of the host, in seconds since 1970. */
const QUESTION = /^api_(?<name>[a-z]{1,10})_(?<at>\d{9,11})(?:_(?<snapshot>panel-\d{9,11}-[a-z0-9]{8}))?$/
const OWN_SNAPSHOT = /^panel-\d{9,11}-[a-z0-9]{8}$/
const VMID = /^[1-9]\d{2,8}$/

/** How long a hypervisor that does not answer is asked again. A container must not stay without its rollback. */
const PATIENCE_MS: Readonly<Record<string, number>> = { room: 30_000, rollback: 86_400_000 }
const USUAL_PATIENCE_MS = 300_000
/** The pauses between attempts at a hypervisor that does not answer; the last one repeats. */
const ATTEMPTS_MS = [500, 1_000, 3_000, 10_000]
/** Failures that may pass although the hypervisor answers, as while it restarts, and how often in a row. */
const PASSING = ['hypervisor_refused', 'hypervisor_unreadable']
const MOST_FAILURES = 3

/** Lines of an answer, and their length. */
const MOST_LINES = 100
const LONGEST_LINE = 300

/** A container whose program asks. */
export interface Asking {
  id: string
  host: Host
  settings: HypervisorSettings
  signal: AbortSignal
}

/** A step, the time of its question, and its snapshot; empty where it is about all of them. */
interface Step {
  name: string
  since: number
  snapshot: string
}

/** An exit code and lines of output. The last line of a failure is its reason. */
interface Told {
  code: number
  lines: string[]
}

/** The steps about a container, and those about one snapshot. */
const ABOUT_ALL = ['room', 'snapshots']
const ABOUT_ONE = ['state', 'snapshot', 'forget', 'rollback']

const NOT_OURS = 'the service does not carry out this step'

/** Whether a question is one for `answerByApi`. */
export function isForApi(question: string): boolean {
  return question.startsWith('api_')
}

/** Whether the API can be asked about a container: a token is set, readable or not, and the id is a number. */
export async function hasApi(id: string, db: Database): Promise<boolean> {
  if (!VMID.test(id)) return false
  const stored = await readSettings(db)
  return (stored.get('hypervisor_url') ?? '') !== '' && (stored.get('hypervisor_token') ?? '') !== ''
}

/**
 * Carries out the step that a question names, and returns its answer: `code <number>`, then the output in lines. A step
 * that was begun for the same question is followed to its end, not begun again. `mayChange` tells whether the step may
 * be about that snapshot. Rejects when the signal aborts, and when the host or the database does not answer.
 */
export async function answerByApi(
  question: string,
  { mayChange, ...asking }: Asking & { mayChange(step: string, snapshot: string): boolean },
): Promise<string[]> {
  const { name = '', at = '', snapshot = '' } = QUESTION.exec(question)?.groups ?? {}
  const isKnown = (snapshot === '' ? ABOUT_ALL : ABOUT_ONE).includes(name)
  const isAllowed = isKnown && (snapshot === '' || mayChange(name, snapshot))
  const { code, lines } = isAllowed
    ? await carryOut({ name, since: Number(at), snapshot }, asking, PATIENCE_MS[name] ?? USUAL_PATIENCE_MS)
    : failed([NOT_OURS])
  const printable = (line: string) => line.slice(0, LONGEST_LINE).replace(/[^\x20-\x7e]/g, '?')
  return [`code ${code}`, ...lines.slice(-MOST_LINES).map(printable)]
}

/** Returns the state of a container and of a snapshot in the lines of `STATE`; undefined where the API does not tell. */
export async function stateByApi(snapshot: string, asking: Asking): Promise<string[] | undefined> {
  if (!VMID.test(asking.id)) return undefined
  const { code, lines } = await carryOut({ name: 'state', since: 0, snapshot }, asking, 0)
  return code === 0 ? lines : undefined
}

/**
 * Carries out a step. A look at the container that fails is repeated: for so long while the hypervisor does not answer,
 * and some times where its answer is of no use.
 */
async function carryOut(step: Step, asking: Asking, patienceMs: number): Promise<Told> {
  const { id, host, settings, signal } = asking
  const begun: string[] = []
  let failures = 0
  let failedSince: number | undefined
  const isPassing = ({ code }: Failure) => {
    failedSince ??= performance.now()
    if (code === 'hypervisor_unreachable') return performance.now() - failedSince < patienceMs
    return PASSING.includes(code) && patienceMs > 0 && failures < MOST_FAILURES
  }
  for (;;) {
    try {
      const access = await settings.hypervisor()
      if (!access) return failed(['no API token of the hypervisor is set'])
      const hostname = await nameOf(host)
      const node = await withApi(access, (requests) => endpoints.nodeNamed(requests, hostname), { signal })
      if (node === undefined)
        return failed([`the API of the hypervisor has no node with the name of the host (${hostname})`])
      const api: ApiWork['api'] = async (work, withinMs = LOOK_MS) => {
        const found = await withApi(access, work, { withinMs, signal })
        failures = 0
        failedSince = undefined
        return found
      }
      const user = access.token.slice(0, access.token.indexOf('='))
      return await doStep(step, { api, place: { node, vmid: id }, user, signal }, begun)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Failure)) throw error
      if (!isPassing(error)) return failed([reasonOf(error)])
    }
    await pause(ATTEMPTS_MS[Math.min(failures, ATTEMPTS_MS.length - 1)], undefined, { signal })
    failures += 1
  }
}

/** The commands of the steps, of which a limited sudo rule must allow all. The values are made up. */
const STEPS = [
  ['snapshot', '100', 'panel-1772366400-k3x9q2pa', '--description', 'ops-panel: before an upgrade'],
  ['rollback', '100', 'panel-1772366400-k3x9q2pa', '--start', '1'],
  ['delsnapshot', '100', 'panel-1772366400-k3x9q2pa'],
]

/** Returns the name of a host whose account needs the API for the steps on snapshots; undefined for other accounts. */
export async function hostInNeed(host: Host): Promise<string | undefined> {
  if ((await host.elevation()) !== 'rule') return undefined
  for (const words of STEPS) {
    const { code } = await host.exec(['sudo', '-n', '-l', CONTAINER_TOOL, ...words])
    if (code !== 0) return nameOf(host)
  }
  return undefined
}

/** The name of the host. Its node has the same one; another name means that the API is another machine's. */
async function nameOf(host: Host): Promise<string> {
  const { stdout } = await host.exec(['uname', '-n'])
  return stdout.trim().split('\n').at(-1)?.trim().slice(0, 100) ?? ''
}

async function doStep({ name, snapshot, since }: Step, work: ApiWork, begun: string[]): Promise<Told> {
  const { api, place } = work
  if (name === 'room') return api(async (requests) => told(roomLines(await endpoints.fullStorages(requests, place))))
  if (name === 'snapshots')
    return api(async (requests) => {
      const listed = await endpoints.listSnapshots(requests, place)
      const own = listed.filter((each) => OWN_SNAPSHOT.test(each.name)).map((each) => `\`-> ${each.name}`)
      // The oldest of them, which are removed first.
      return told(own.sort().slice(0, MOST_LINES))
    })
  if (name === 'state') return api(async (requests) => told(await stateLines(requests, place, snapshot)))
  const change = { ...work, snapshot, since }
  if (name === 'snapshot') return toldOf(await makeChange(snapshotChange(change), work, begun))
  if (name === 'forget') return toldOf(await makeChange(removalChange(change), work, begun))
  const back = await makeChange(rollbackChange(change), work, begun)
  if (!back.done) return toldOf(back)
  const started = await makeChange(startChange(change), work, [])
  return toldOf({ ...started, log: [...back.log, ...started.log] })
}

/** The lines of `ROOM` for pools that are so full. */
function roomLines(pools: readonly { storage: string; percent: number }[]): string[] {
  return pools.flatMap(({ storage, percent }) => [
    `volume ${storage} ${storage}`,
    `on ${storage} ${storage}`,
    `zfs ${storage} ${percent}`,
  ])
}

async function stateLines(requests: ApiRequests, place: OnNode, snapshot: string): Promise<string[]> {
  const { status, lock } = await endpoints.currentState(requests, place)
  const found = await findSnapshot(requests, place, snapshot)
  const word = found ? (found.whole ? 'whole' : 'incomplete') : 'none'
  return [...(status ? [`status ${status}`] : []), ...(lock ? [`lock ${lock}`] : []), `snapshot ${word}`]
}

function toldOf(changed: Changed): Told {
  return changed.done ? told(changed.log) : failed([...changed.log, changed.reason])
}

function told(lines: string[]): Told {
  return { code: 0, lines }
}

function failed(lines: string[]): Told {
  return { code: 1, lines }
}

const REASONS: Readonly<Record<string, string>> = {
  hypervisor_unreachable: 'the API of the hypervisor does not answer',
  hypervisor_certificate: 'the certificate of the hypervisor is not the agreed one, or no authority vouches for it',
  hypervisor_in_clear: 'the address of the hypervisor is in http:, where it has no certificate',
  hypervisor_unauthorized: 'the hypervisor does not accept the API token',
  hypervisor_unreadable: 'the answer of the hypervisor cannot be used',
  hypervisor_token_unreadable: 'the API token that is stored cannot be decrypted',
}

/** The reason of a failure in the hypervisor's own words, or in English: the output of a run is. */
function reasonOf(error: Failure): string {
  if (error instanceof ApiRefusal) return error.reason
  return REASONS[error.code] ?? `the API of the hypervisor cannot be used (${error.code})`
}

import type { Census } from './census.ts'
import { FAULTS, type FaultName } from './faults.ts'
import type { Findings } from './findings.ts'
import type { HostRun } from './host.ts'
import type { Followed, Ledger } from './ledger.ts'
import type { StoredJob } from './stored.ts'
import type { Weather } from './weather.ts'

/** Compares what the service acknowledged and sent with the stored jobs, and those with the host's output. */
export function judgeJobs(
  {
    ledger,
    stored,
    runs,
    weather,
  }: { ledger: Ledger; stored: readonly StoredJob[]; runs: readonly HostRun[]; weather: Weather },
  findings: Findings,
): void {
  const byId = new Map(stored.map((job) => [job.id, job]))
  for (const id of ledger.jobs.keys()) if (!byId.has(id)) findings.add('jobMissing', id)
  for (const job of stored) {
    const wrong = wrongEnd(job, { ledger, weather })
    if (wrong) findings.add(wrong, described(job, weather))
    const run = job.run === undefined ? undefined : runs[job.run]
    if (run) judgeOutput(job, run, findings)
  }
  for (const one of ledger.followed) judgeFollowed(one, byId.get(one.id), findings)
  for (const { number, place } of runs) {
    const ids = stored.filter(({ run }) => run === number).map(({ id }) => id)
    if (ids.length !== 1) findings.add('jobTwice', `run ${number} in ${place}: ${ids.join(', ') || 'of no job'}`)
  }
}

/** Describes a job and its events, for an investigation. */
function described({ id, status, error, run, startedAt, endedAt, rest }: StoredJob, weather: Weather): string {
  const seconds = ((endedAt - startedAt) / 1000).toFixed(3)
  const near = weather.near(startedAt, endedAt).join(', ')
  const what = run === undefined ? `of none, says ${JSON.stringify(rest.slice(0, 200))}` : String(run)
  return `${id}: ${status} after ${seconds} s (${error ?? 'no error'}), run ${what}; near: ${near || 'nothing'}`
}

/** Returns the finding about a job's end, if any. */
function wrongEnd(
  { id, status, errorCode, run, startedAt, endedAt }: StoredJob,
  { ledger, weather }: { ledger: Ledger; weather: Weather },
): 'jobStuck' | 'jobFailed' | undefined {
  if (status === 'running') return 'jobStuck'
  if (status === 'success') return run === undefined ? 'jobFailed' : undefined
  if (errorCode === 'cancelled' && ledger.cancelled.has(id)) return undefined
  // The service answered that the job had not started.
  if (errorCode === 'storage_failed' && run === undefined && !ledger.jobs.has(id)) return undefined
  // A job fails when the host refuses connections at its start.
  const turnedAway = run === undefined && weather.met(['host', 'freeze'], startedAt, endedAt)
  return turnedAway ? undefined : 'jobFailed'
}

const CANCELLED = /^\n?(?:[^\n]*\n)*Annulé par [\w-]+$/

function judgeOutput({ id, status, hostSize, hostSha256, rest }: StoredJob, run: HostRun, findings: Findings): void {
  findings.add('lost', `${id}: of run ${run.number}`, run.size - hostSize)
  if (hostSize === run.size && hostSha256 !== run.sha256)
    findings.add('different', `${id}: not as run ${run.number} printed it`)
  if (status === 'error' ? !CANCELLED.test(rest) : rest !== '')
    findings.add('different', `${id}: after run ${run.number} comes ${JSON.stringify(rest.slice(0, 200))}`)
}

function judgeFollowed({ id, how, output }: Followed, job: StoredJob | undefined, findings: Findings): void {
  const subject = `${id}, by ${how}`
  if (!output) {
    findings.add('hung', `${subject}: no final event`)
    return
  }
  const { size, sha256, lost, repeated, finals } = output
  findings.add('lost', subject, lost + Math.max(0, (job?.size ?? 0) - size))
  findings.add('repeated', subject, repeated)
  if (finals !== 1) findings.add('finals', `${subject}: ${finals}`)
  if (job && sha256 !== job.sha256) findings.add('different', `${subject}: not as it is stored`)
}

/** The audit log contains every acknowledged login, and none that nobody attempted. */
export function judgeSignIns({ signIns }: Ledger, recorded: ReadonlyMap<string, number>, findings: Findings): void {
  for (const [username, { acknowledged, unanswered }] of signIns) {
    const count = recorded.get(username) ?? 0
    const text = `${count} sign-ins of ${username} in the audit log, ${acknowledged} acknowledged, ${unanswered} unanswered`
    if (count < acknowledged) findings.add('forgotten', text, acknowledged - count)
    if (count > acknowledged + unanswered) findings.add('unexpected', text)
  }
}

/** The connections to the host that the service's pools may keep when idle. */
const KEPT = 8 + 32
/**
 * Growth of a process between two moments of the same work, in MiB. A leak of 1 KiB a request would be 20 in five
 * minutes.
 */
const HEAP_GROWTH = 12
/** Generous, because the allocator returns the memory of a large output late. */
const PSS_GROWTH = 96
/** Timers of pools, tasks and limits; one for each request or socket would be thousands. */
const TIMER_GROWTH = 60
/** A file being read or a cache being grown. */
const FILE_GROWTH = 2
/**
 * While the database is locked every attempt needs another connection, which is closed when its statements are
 * collected. SQLite keeps their descriptors while the process has the file open, and reuses them.
 */
const DATABASE_GROWTH = 200

/** Finds faults that did not strike, cuts that cut nothing, and kills that ended nothing: such a run proves nothing. */
export function judgeFaults(
  {
    faults,
    struck,
    cuts,
    lives,
  }: { faults: readonly FaultName[]; struck: ReadonlyMap<FaultName, number>; cuts: number; lives: number },
  findings: Findings,
): void {
  for (const name of faults) if (!struck.get(name)) findings.add('noFault', `${name} did not strike`)
  if (struck.get('cut') && cuts === 0) findings.add('noFault', 'no connection was cut')
  const deaths = faults.reduce((sum, name) => sum + (FAULTS[name].deadly ? (struck.get(name) ?? 0) : 0), 0)
  if (lives <= deaths) findings.add('noFault', `${lives} starts of the service after ${deaths} ends`)
}

/**
 * Compares the resources of the service half way with those at the end of the same process. `left` is measured after
 * the clients have gone, and `seen` is the number of connections that the host sees then.
 */
export function judgeCensus(
  { half, end, left, seen }: { half: Census; end: Census; left: Census; seen: number },
  findings: Findings,
): void {
  findings.add('socketLeak', `${left.clientSockets} connections of clients who have gone`, left.clientSockets)
  const many = left.hostSockets - KEPT
  findings.add('hostLeak', `${left.hostSockets} connections to the host, ${KEPT} at most are kept`, many)
  findings.add('hostLeak', `${seen} at the host, ${left.hostSockets} here`, Math.abs(seen - left.hostSockets))
  const grown = (
    wrong: 'fileLeak' | 'timerLeak' | 'memory',
    name: string,
    before: number,
    after: number,
    bound: number,
  ) =>
    findings.add(wrong, `${name}: ${Math.round(before)}, then ${Math.round(after)}`, Math.ceil(after - before - bound))
  grown('fileLeak', 'open files', half.files, left.files, FILE_GROWTH)
  grown('fileLeak', 'descriptors of the database', half.database, left.database, DATABASE_GROWTH)
  grown('timerLeak', 'timers', half.timers, left.timers, TIMER_GROWTH)
  grown('memory', 'heap', half.heap ?? 0, end.heap ?? 0, HEAP_GROWTH)
  grown('memory', 'memory', half.pss, end.pss, PSS_GROWTH)
}

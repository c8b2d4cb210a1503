import { computed, signal } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { type Outcome, outcomeOf } from '../nouns/outcome.ts'
import { checkWhatIsDue, readChecks } from './checks.ts'
import { returns } from './connection.ts'
import { readHost } from './host.ts'
import { api, atSignOut, isAdmin, me } from './panel.ts'

/** A record of a job without its output; `kind` is told of what is no upgrade. `status` does not know of apt's exit code: see `outcomeOfJob`. */
export type Job = NonNullable<Answer<'GET /api/updates/jobs'>['jobs']>[number]

/** What others begin, and what ends, is seen within two seconds. The answer is next to nothing as long as nothing has changed. */
const EVERY_MS = 1_000
/** After a failure. */
const AGAIN_MS = 5_000

const ORDER = [undefined, 'remedy', 'check'] as const

/** The newest of every kind, newest first. */
const known = signal<readonly Job[]>()
/** The newest upgrades, newest first; undefined until they are known. */
export const jobs = computed(() => known.value?.filter(({ kind }) => kind === undefined))
export const jobsError = signal<unknown>()
/** All that runs, newest first: upgrades, then repairs, then checks, which change nothing. */
export const running = computed(() => {
  const all = (known.value ?? []).filter(({ status }) => status === 'running')
  return ORDER.flatMap((order) => all.filter(({ kind }) => kind === order))
})

/** How a job has ended, as far as that is known by now. */
export function outcomeOfJob({ status, target, exit_code: exitCode, error_code: errorCode, containers }: Job): Outcome {
  const outcome = outcomeOf({ status, exitCode, errorCode, containers })
  // An earlier version of the service did not keep what became of each.
  return outcome === 'done' && target === 'all' && !containers ? 'unknown' : outcome
}

/** Whether who is signed in may cancel a job that somebody has started. */
export function mayCancel(startedBy: string): boolean {
  return isAdmin.value || startedBy === me.value?.username
}

/** Who has started a job, where that is somebody else. */
export function otherPerson({ started_by_name }: Pick<Job, 'started_by_name'>): string | undefined {
  return started_by_name === me.value?.username ? undefined : started_by_name
}

let timer: ReturnType<typeof setTimeout> | undefined
let asking: Promise<void> | undefined
/** Something has begun since the question under way was asked. */
let again = false
/** Of the answer that `jobs` is from. */
let version: string | undefined

/** Reads the list now, and again and again as long as somebody is signed in and looks. */
export function readJobs(): Promise<void> {
  clearTimeout(timer)
  again = asking !== undefined
  asking ??= askAll().finally(() => {
    asking = undefined
    clearTimeout(timer)
    if (me.peek()) timer = setTimeout(whenSeen, jobsError.peek() === undefined ? EVERY_MS : AGAIN_MS)
  })
  return asking
}

function whenSeen(): void {
  // Who comes back to the page has it read at once: see below.
  if (!document.hidden) void readJobs()
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden && me.peek() && known.peek()) void readJobs()
})
returns.subscribe(() => {
  if (jobsError.peek() !== undefined && me.peek()) void readJobs()
})

async function askAll(): Promise<void> {
  do {
    again = false
    await ask()
  } while (again)
}

async function ask(): Promise<void> {
  try {
    const query = version === undefined ? {} : { since: version }
    const told = await api('GET /api/updates/jobs', { query })
    version = told.version
    jobsError.value = undefined
    if (!told.jobs) return
    recheck(running.value, told.jobs)
    known.value = told.jobs
  } catch (error) {
    jobsError.value = error
  }
}

/**
 * Where something has ended, other packages wait than before, or what was changed meanwhile is to be looked at. A check that
 * somebody has cancelled is not begun anew by itself.
 */
function recheck(ran: readonly Job[], now: readonly Job[]): void {
  const ended = ran.flatMap((job) => {
    const found = now.find(({ job_id }) => job_id === job.job_id) ?? { ...job, status: 'error' }
    return found.status === 'running' ? [] : [found]
  })
  const begun = now.filter(({ job_id, status }) => status === 'running' && !ran.some((job) => job.job_id === job_id))
  if (ended.some(({ kind, error_code }) => kind !== 'check' || error_code !== 'cancelled')) void checkWhatIsDue()
  else if ([...ended, ...begun].some(({ kind }) => kind === 'check')) void readChecks()
  // Whoever looks need not wait for the next question to know that nothing else can be started either.
  if (ended.some(({ error_code }) => error_code?.startsWith('ssh_'))) readHost().catch(() => {})
}

/** Starts an upgrade; its id. */
export async function startUpgrade(target: string): Promise<string> {
  const { job_id } = await api('POST /api/updates/run', { body: { target } })
  const begun: Job = {
    job_id,
    target,
    status: 'running',
    started_at: new Date().toISOString(),
    exit_code: null,
    error_code: null,
    started_by_name: me.value?.username ?? '',
    containers: null,
  }
  known.value = [begun, ...(known.value ?? [])]
  void readJobs()
  return job_id
}

atSignOut(() => {
  clearTimeout(timer)
  version = undefined
  known.value = undefined
  jobsError.value = undefined
})

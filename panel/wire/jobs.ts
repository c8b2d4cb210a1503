import { computed, signal } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import { type Outcome, outcomeOf } from '../nouns/outcome.ts'
import { checkWhatIsDue } from './checks.ts'
import { returns } from './connection.ts'
import { api, atSignOut, isAdmin, me } from './panel.ts'

/** A record of an upgrade without its output. `status` does not know of apt's exit code: see `outcomeOfJob`. */
export type Job = NonNullable<Answer<'GET /api/updates/jobs'>['jobs']>[number]

/** What others begin, and what ends, is seen within two seconds. The answer is next to nothing as long as nothing has changed. */
const EVERY_MS = 1_000
/** After a failure. */
const AGAIN_MS = 5_000

/** The newest jobs, newest first; undefined until they are known. */
export const jobs = signal<readonly Job[]>()
export const jobsError = signal<unknown>()
export const running = computed(() => (jobs.value ?? []).filter(({ status }) => status === 'running'))

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
  if (!document.hidden && me.peek() && jobs.peek()) void readJobs()
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
    jobs.value = told.jobs
  } catch (error) {
    jobsError.value = error
  }
}

/** Where an upgrade has ended, other packages wait than before. */
function recheck(ran: readonly Job[], now: readonly Job[]): void {
  const ended = ran.some(({ job_id }) => now.find((job) => job.job_id === job_id)?.status !== 'running')
  if (ended) void checkWhatIsDue()
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
  jobs.value = [begun, ...(jobs.value ?? [])]
  void readJobs()
  return job_id
}

atSignOut(() => {
  clearTimeout(timer)
  version = undefined
  jobs.value = undefined
  jobsError.value = undefined
})

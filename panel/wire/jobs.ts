import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Answer } from '../../client/index.ts'
import type { Plan } from '../nouns/plan.ts'
import { type Outcome, outcomeOf } from '../nouns/outcome.ts'
import { reconnects } from './connection.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { api, isAdmin, isOperator, me, onSignOut } from './panel.ts'

/** A job record without its output. `kind` is set for jobs other than upgrades. `status` ignores apt's exit code: see `outcomeOfJob`. */
export type Job = NonNullable<Answer<'GET /api/updates/jobs'>['jobs']>[number]

/** Shows within two seconds what other users start and what ends. The answer is tiny while nothing changes. */
const POLL_MS = 1_000
/** The pause after a failure. */
const RETRY_MS = 5_000

/** The order of running jobs: those that change most come first, and checks, which change nothing, last. */
const RANK: Readonly<Record<NonNullable<Job['kind']> | 'upgrade', number>> = {
  upgrade: 0,
  application: 0,
  rollback: 1,
  reboot: 2,
  restart: 3,
  remedy: 4,
  snapshot: 5,
  check: 6,
}
const rankOf = ({ kind }: Job) => RANK[kind ?? 'upgrade'] ?? RANK.check

const known = signal<readonly Job[]>()
/** The newest jobs of every kind, newest first; undefined until they are known. */
export const newestJobs: ReadonlySignal<readonly Job[] | undefined> = known
/** The newest upgrades, newest first; undefined until they are known. */
export const jobs = computed(() => known.value?.filter(({ kind }) => kind === undefined))
/** The same with the updates of applications. */
export const history = computed(() => known.value?.filter(({ kind = 'application' }) => kind === 'application'))
export const jobsError = signal<unknown>()
/** All running jobs in the order of their kinds, each kind with its newest first. */
export const running = computed(() =>
  (known.value ?? []).filter(({ status }) => status === 'running').sort((one, other) => rankOf(one) - rankOf(other)),
)

/** The job that changes a target now: an upgrade, a repair, a restart of its services. Checks do not count. */
export function jobOn(target: string): Job | undefined {
  return running.value.find(
    (job) => job.kind !== 'check' && (job.target === target || (job.target === 'all' && target !== 'host')),
  )
}

/** The outcome of a job as far as it is known. */
export function outcomeOfJob(job: Job): Outcome {
  const { status, target, exit_code: exitCode, error_code: errorCode, containers, warnings } = job
  const outcome = outcomeOf({ status, exitCode, errorCode, containers, warnings, told: job })
  // Earlier versions of the service stored no results by container.
  return outcome === 'done' && target === 'all' && !containers ? 'unknown' : outcome
}

/** Whether the signed-in user may cancel a job of `startedBy`. */
export function mayCancel(startedBy: string): boolean {
  return isAdmin.value || (isOperator.value && startedBy === me.value?.username)
}

/** The user who started a job, unless it is the signed-in user; empty for a job that started by itself. */
export function otherPerson({ started_by_name }: Pick<Job, 'started_by_name'>): string | undefined {
  return started_by_name === me.value?.username ? undefined : started_by_name
}

let timer: ReturnType<typeof setTimeout> | undefined
/** The version of the current list. */
let version: string | undefined
const read = oneAtATime(ask)

/** Reads the list now, then polls it while a user is signed in and the page is visible. */
export function readJobs(): Promise<void> {
  clearTimeout(timer)
  return read().finally(() => {
    clearTimeout(timer)
    if (me.peek()) timer = setTimeout(whenSeen, jobsError.peek() === undefined ? POLL_MS : RETRY_MS)
  })
}

function whenSeen(): void {
  // When the page becomes visible again, the handler below reads at once.
  if (!document.hidden) void readJobs()
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden && me.peek() && known.peek()) void readJobs()
})
reconnects.subscribe(() => {
  if (jobsError.peek() !== undefined && me.peek()) void readJobs()
})

async function ask(): Promise<void> {
  try {
    const query = version === undefined ? {} : { since: version }
    const told = await api('GET /api/updates/jobs', { query })
    version = told.version
    jobsError.value = undefined
    if (!told.jobs) return
    known.value = told.jobs
  } catch (error) {
    jobsError.value = error
  }
}

/** Starts an upgrade that does exactly what a plan says; returns its id. */
export async function startPlan({ id: plan, target }: Pick<Plan, 'id' | 'target'>): Promise<string> {
  const { job_id } = await api('POST /api/updates/run', { body: { target, plan } })
  const begun: Job = {
    job_id,
    target,
    status: 'running',
    started_at: new Date().toISOString(),
    exit_code: null,
    error_code: null,
    started_by_name: me.value?.username ?? '',
    containers: null,
    warnings: [],
    run_id: null,
    plan_id: plan,
    plan_difference: null,
    phase: null,
    outcome: null,
    snapshot: null,
    regressions: [],
    protection: null,
    unprotected: null,
    reason: null,
    outage_seconds: null,
    decided: null,
  }
  known.value = [begun, ...(known.value ?? [])]
  void readJobs()
  return job_id
}

onSignOut(() => {
  clearTimeout(timer)
  version = undefined
  known.value = undefined
  jobsError.value = undefined
})

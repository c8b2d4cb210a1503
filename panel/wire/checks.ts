import { computed, effect, signal, untracked } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Answer } from '../../client/index.ts'
import { type Check, isDue } from '../nouns/checked.ts'
import { needsIn, withFigures } from '../nouns/needs.ts'
import { afterReboot } from '../nouns/reboot.ts'
import { withHarm, withStanding } from '../nouns/standing.ts'
import { followChanges } from './changes.ts'
import { containers } from './containers.ts'
import { host, hostAway, readHost } from './host.ts'
import { type Job, newestJobs } from './jobs.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { api, isTheirs, mayOperate, me, onSignOut } from './panel.ts'

/** The pause before a failed automatic check is tried again. */
const RETRY_MS = 10 * 60_000

const results = signal<readonly Check[]>()
/**
 * The last results of the host and its containers, with their newest figures, also while the host is away; undefined until they are known.
 */
export const checks = computed<readonly Check[] | undefined>(
  () =>
    results.value &&
    withFigures(afterReboot(withHarm(withStanding(results.value, known()), known()), known()), {
      host: host.value,
      containers: containers.value ?? [],
    }),
)
const known = () => newestJobs.value ?? []
/** The error of the last request; earlier results stay. */
export const checksError = signal<unknown>()
/** The age of the data about vulnerabilities; undefined until it is known. */
export const vulnerabilities = signal<Answer<'GET /api/updates/checks'>['vulnerabilities']>()
/** Whether checks start by themselves. */
export const isAutomatic = signal(true)
/** The pause of all schedules, with its author and its time; null while there is none. */
export const schedulesPaused = signal<Answer<'GET /api/updates/checks'>['schedules_paused']>(null)
export const isChecking = computed(() => (checks.value ?? []).some(({ checking }) => checking))
/** The check that was last started here, while it runs. */
export const checkUnderWay = signal<string>()
/** The number of available updates on all targets. Packages that are kept back are not available. */
export const waiting = computed(() => (checks.value ?? []).reduce((sum, { counts }) => sum + counts.upgrade, 0))
/** The targets that need somebody, for the menu; the others do not need an operator of some targets. */
export const needing = computed(() => needsIn((checks.value ?? []).filter(({ target }) => isTheirs(target))))

/** Reads the results now. Never rejects: see `checksError`. */
export const readChecks = oneAtATime(ask)

async function ask(): Promise<void> {
  const asker = me.peek()?.username
  // Requests that were running at a sign-out have no effect.
  if (asker === undefined) return
  try {
    const answer = await api('GET /api/updates/checks')
    if (me.peek()?.username !== asker) return
    results.value = answer.checks
    vulnerabilities.value = answer.vulnerabilities
    isAutomatic.value = answer.automatic !== false
    schedulesPaused.value = answer.schedules_paused
    if (!isChecking.value) checkUnderWay.value = undefined
    checksError.value = undefined
  } catch (error) {
    if (me.peek()?.username === asker) checksError.value = error
  }
}

const reader = computed(() => me.value?.username)
effect(() => {
  if (reader.value === undefined) return
  return untracked(() =>
    followChanges({
      path: '/ws/checks',
      changed: () => void readChecks(),
      hasFailed: () => checksError.peek() !== undefined,
    }),
  )
})

/** Reads the results again when a page opens whose last reading failed. Otherwise they are always up to date. */
export function useChecks(): void {
  useEffect(() => {
    if (checksError.peek() !== undefined) void readChecks()
  }, [])
}

/** Starts a check of one target or all of them, and resolves once it has started. */
export async function startCheck(target: string): Promise<void> {
  checkUnderWay.value = (await api('POST /api/updates/checks', { body: { target } })).job_id
  await readChecks()
}

/** The time of the last automatic check by its reason, in ms since 1970. */
const tried = new Map<string, number>()

/** A target with the check and the change because of which it is checked again. */
function reasonOf({ target, checked_at, changed_at }: Check): string {
  return `${target} ${checked_at} ${changed_at}`
}

/**
 * Checks the targets that were never checked, changed since, or have old results, in one job if there are several. Starts nothing where
 * automatic checks are off. Never rejects.
 */
export async function checkWhatIsDue(): Promise<void> {
  await readChecks()
  // An automatic check of an unreachable host would only replace known results.
  if (hostAway.peek() || !isAutomatic.peek()) return
  const now = Date.now()
  const due = (checks.peek() ?? [])
    .filter((check) => isDue(check, now) && mayOperate(check.target))
    // Each change is a new reason to check.
    .filter((check) => now - (tried.get(reasonOf(check)) ?? 0) > RETRY_MS)
  const isAll = due.length > 1 && mayOperate('all')
  const started = isAll ? due : due.slice(0, 1)
  for (const check of started) tried.set(reasonOf(check), now)
  const [first] = started
  // The user sees such an error when they start a check themselves.
  if (first) await startCheck(isAll ? 'all' : first.target).catch(() => {})
}

/**
 * Checks a container again that was restarted because of its outdated services, where checks start by themselves: the service does not know
 * of a restart by the hypervisor’s API. Never rejects.
 */
export async function checkRestarted(target: string): Promise<void> {
  await readChecks()
  const check = checks.peek()?.find((each) => each.target === target)
  if (!check || !mayOperate(target) || check.checking || check.services.length === 0 || !isAutomatic.peek()) return
  await startCheck(target).catch(() => {})
}

/** The running jobs of the last list. */
let ran: readonly Job[] = []
effect(() => {
  const now = newestJobs.value ?? []
  untracked(() => recheck(now))
  ran = now.filter(({ status }) => status === 'running')
})

/** Reads results again when a job has ended, and checks targets that have changed. A cancelled check does not start again by itself. */
function recheck(now: readonly Job[]): void {
  if (me.peek() === undefined) return
  const ended = ran.flatMap((job) => {
    const found = now.find(({ job_id }) => job_id === job.job_id) ?? { ...job, status: 'error' }
    return found.status === 'running' ? [] : [found]
  })
  const begun = now.filter(({ job_id, status }) => status === 'running' && !ran.some((job) => job.job_id === job_id))
  if (ended.some(({ kind, error_code }) => kind !== 'check' || error_code !== 'cancelled')) void checkWhatIsDue()
  else if ([...ended, ...begun].some(({ kind }) => kind === 'check')) void readChecks()
  // Readers learn at once that nothing else can start either.
  if (ended.some(({ error_code }) => error_code?.startsWith('ssh_'))) readHost().catch(() => {})
}

onSignOut(() => {
  tried.clear()
  results.value = undefined
  vulnerabilities.value = undefined
  isAutomatic.value = true
  schedulesPaused.value = null
  checksError.value = undefined
  checkUnderWay.value = undefined
})

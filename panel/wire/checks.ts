import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Check, isDue, updatesIn } from '../nouns/checked.ts'
import { hostAway } from './host.ts'
import { api, me, onSignOut } from './panel.ts'

const POLL_MS = 5_000
const CHECKING_MS = 1_000
/** The pause before a failed automatic check is tried again. */
const RETRY_MS = 10 * 60_000

/** The last results of the host and its containers, also while the host is away; undefined until they are known. */
export const checks = signal<readonly Check[]>()
/** The error of the last request; earlier results stay. */
export const checksError = signal<unknown>()
export const isChecking = computed(() => (checks.value ?? []).some(({ checking }) => checking))
/** The check that was last started here, while it runs. */
export const checkUnderWay = signal<string>()
/** The number of available updates on all targets. */
export const waiting = computed(() => (checks.value ?? []).reduce((sum, check) => sum + updatesIn(check), 0))

let viewers = 0
let timer: ReturnType<typeof setTimeout> | undefined
let asking: Promise<void> | undefined

/** Reads the results now. Never rejects: see `checksError`. */
export function readChecks(): Promise<void> {
  asking ??= ask().finally(() => {
    asking = undefined
  })
  return asking
}

async function ask(): Promise<void> {
  const asker = me.peek()
  // Requests that were running at a sign-out have no effect.
  if (!asker) return
  try {
    const { checks: found } = await api('GET /api/updates/checks')
    if (me.peek() !== asker) return
    checks.value = found
    if (!isChecking.value) checkUnderWay.value = undefined
    checksError.value = undefined
  } catch (error) {
    if (me.peek() === asker) checksError.value = error
  }
}

/** Polls the results while a component is mounted and the page is visible, more often while a check runs. */
export function useChecks(): void {
  useEffect(() => {
    viewers += 1
    if (viewers === 1) void poll()
    const shown = () => {
      if (!document.hidden) void readChecks()
    }
    document.addEventListener('visibilitychange', shown)
    return () => {
      viewers -= 1
      if (viewers === 0) clearTimeout(timer)
      document.removeEventListener('visibilitychange', shown)
    }
  }, [])
}

async function poll(): Promise<void> {
  clearTimeout(timer)
  if (!document.hidden) await readChecks()
  clearTimeout(timer)
  if (viewers > 0) timer = setTimeout(() => void poll(), isChecking.peek() ? CHECKING_MS : POLL_MS)
}

/** Starts a check of one target or all of them, and resolves once it has started. */
export async function startCheck(target: string): Promise<void> {
  checkUnderWay.value = (await api('POST /api/updates/checks', { body: { target } })).job_id
  await readChecks()
  if (viewers > 0) void poll()
}

/** Starts a repair, in which dpkg finishes its work; returns the id of the job. */
export async function startRepair(target: string): Promise<string> {
  return (await api('POST /api/updates/remedies', { body: { target, action: 'repair_dpkg' } })).job_id
}

/** The time of the last automatic check by target, in ms since 1970. */
const tried = new Map<string, number>()

/** Checks the targets that were never checked, changed since, or have old results, in one job if there are several. Never rejects. */
export async function checkWhatIsDue(): Promise<void> {
  await readChecks()
  // An automatic check of an unreachable host would only replace known results.
  if (hostAway.peek()) return
  const now = Date.now()
  const due = (checks.peek() ?? [])
    .filter((check) => isDue(check, now))
    // Each change is a new reason to check.
    .filter(({ target, changed_at }) => now - (tried.get(`${target} ${changed_at}`) ?? 0) > RETRY_MS)
  for (const { target, changed_at } of due) tried.set(`${target} ${changed_at}`, now)
  const [first] = due
  // The user sees such an error when they start a check themselves.
  if (first) await startCheck(due.length > 1 ? 'all' : first.target).catch(() => {})
}

onSignOut(() => {
  clearTimeout(timer)
  tried.clear()
  checks.value = undefined
  checksError.value = undefined
  checkUnderWay.value = undefined
})

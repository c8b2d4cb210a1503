import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Check, isDue, waitingIn } from '../nouns/checked.ts'
import { hostAway } from './host.ts'
import { api, atSignOut, me } from './panel.ts'

const EVERY_MS = 5_000
const CHECKING_MS = 1_000
/** What cannot be looked at is not tried over and over by itself. */
const AGAIN_MS = 10 * 60_000

/** The host and its containers as they were found last, also while the host is away; undefined until they are known. */
export const checks = signal<readonly Check[]>()
/** Of the last question; what was known before it is kept. */
export const checksError = signal<unknown>()
export const isChecking = computed(() => (checks.value ?? []).some(({ checking }) => checking))
/** The check that was begun here last, as long as one is under way. */
export const checkUnderWay = signal<string>()
/** How many packages wait, of all targets. */
export const waiting = computed(() => (checks.value ?? []).reduce((sum, check) => sum + waitingIn(check), 0))

let lookers = 0
let timer: ReturnType<typeof setTimeout> | undefined
let asking: Promise<void> | undefined

/** Reads them now. Never rejects: see `checksError`. */
export function readChecks(): Promise<void> {
  asking ??= ask().finally(() => {
    asking = undefined
  })
  return asking
}

async function ask(): Promise<void> {
  const asker = me.peek()
  // What was under way when somebody signed out goes no further.
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

/** Reads them again and again as long as somebody looks, soon where a check is under way. */
export function useChecks(): void {
  useEffect(() => {
    lookers += 1
    if (lookers === 1) void poll()
    const shown = () => {
      if (!document.hidden) void readChecks()
    }
    document.addEventListener('visibilitychange', shown)
    return () => {
      lookers -= 1
      if (lookers === 0) clearTimeout(timer)
      document.removeEventListener('visibilitychange', shown)
    }
  }, [])
}

async function poll(): Promise<void> {
  clearTimeout(timer)
  if (!document.hidden) await readChecks()
  clearTimeout(timer)
  if (lookers > 0) timer = setTimeout(() => void poll(), isChecking.peek() ? CHECKING_MS : EVERY_MS)
}

/** Has the service look at a target, or at all of them, and tells of it as soon as it has begun. */
export async function startCheck(target: string): Promise<void> {
  checkUnderWay.value = (await api('POST /api/updates/checks', { body: { target } })).job_id
  await readChecks()
  if (lookers > 0) void poll()
}

/** Has dpkg finish what it began at a target; the job that does. */
export async function startRepair(target: string): Promise<string> {
  return (await api('POST /api/updates/remedies', { body: { target, action: 'repair_dpkg' } })).job_id
}

/** When each was last looked at without being asked for, in ms since 1970. */
const tried = new Map<string, number>()

/** Looks at what was never looked at, was changed since, or is old; in one job where that is more than one target. Never rejects. */
export async function checkWhatIsDue(): Promise<void> {
  await readChecks()
  // A check that cannot be made would only end what is known.
  if (hostAway.peek()) return
  const now = Date.now()
  const due = (checks.peek() ?? [])
    .filter((check) => isDue(check, now))
    // What was changed is another thing each time.
    .filter(({ target, changed_at }) => now - (tried.get(`${target} ${changed_at}`) ?? 0) > AGAIN_MS)
  for (const { target, changed_at } of due) tried.set(`${target} ${changed_at}`, now)
  const [first] = due
  // Whether it can be done is told where somebody asks for it.
  if (first) await startCheck(due.length > 1 ? 'all' : first.target).catch(() => {})
}

atSignOut(() => {
  clearTimeout(timer)
  tried.clear()
  checks.value = undefined
  checksError.value = undefined
  checkUnderWay.value = undefined
})

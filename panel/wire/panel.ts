import { computed, signal } from '@preact/signals'
import { type Answer, type Api, ApiError, createPanel } from '../../client/index.ts'
import { reconnects, recordAnswer } from './connection.ts'
import { confirmIdentity, endConfirmation } from './step-up.ts'
import { notifyWindows, onWindowMessage } from './windows.ts'

export type Me = Answer<'GET /api/auth/me'>

/** Delays a close until the socket is open: browsers log a warning when a connecting socket closes. */
class DelayedCloseSocket extends WebSocket {
  override close(): void {
    if (this.readyState === WebSocket.CONNECTING) this.addEventListener('open', () => super.close())
    else super.close()
  }
}

interface Shown {
  lang: 'fr' | 'en'
  theme: 'dark' | 'light'
}

/** Aborted at sign-out, so that no pending answer reaches the next user. */
let visit = new AbortController()

/**
 * The poll that runs every second and that a healthy service answers at once. Without a deadline, a browser would wait forever for a frozen
 * service.
 */
const JOBS_POLL = '/api/updates/jobs'
const JOBS_POLL_DEADLINE_MS = 15_000

/** A signal that aborts after the deadline of this request. */
function deadlineOf(url: string): { signal: AbortSignal; clear(): void } {
  const late = new AbortController()
  const timer = new URL(url).pathname === JOBS_POLL ? setTimeout(() => late.abort(), JOBS_POLL_DEADLINE_MS) : undefined
  return { signal: late.signal, clear: () => clearTimeout(timer) }
}

/** The service, through the project's own client, which alone holds the access token. */
export const panel = createPanel({
  url: location.origin,
  async fetch(url, init) {
    const { signal: left } = visit
    const deadline = deadlineOf(url)
    const signal = AbortSignal.any([left, deadline.signal, ...(init.signal ? [init.signal] : [])])
    try {
      const answer = await fetch(url, { ...init, signal })
      recordAnswer(answer.status < 502 || answer.headers.has('x-request-id'))
      return answer
    } catch (error) {
      if (!left.aborted && !init.signal?.aborted) recordAnswer(false)
      throw error
    } finally {
      deadline.clear()
    }
  },
  WebSocket: DelayedCloseSocket,
  onSignedOut: () => leave('expired'),
  onRenewed: () => void learnRights().catch(() => {}),
})

/** Calls an operation. The user is asked to confirm who they are where it takes that, and what was wanted goes on. */
export const api: Api = async (operation, ...input) => {
  try {
    return await panel.api(operation, ...input)
  } catch (error) {
    const [sent] = input
    if (!isUnconfirmed(error) || !(await confirmIdentity(sent?.signal))) throw error
    return panel.api(operation, ...input)
  }
}

/** Whether an action waits for a proof of who the user is; `api` throws this once they decline. */
export function isUnconfirmed(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'step_up_required'
}

/** The signed-in user. */
export const me = signal<Me>()
/** A user who has signed in, and must add a second factor before anything else. */
export const enrolling = signal<Me>()
export const isAdmin = computed(() => me.value?.is_admin === true)
/** Whether the user works on some targets at least. */
export const isOperator = computed(() => me.value !== undefined && me.value.role !== 'viewer')

/** Whether a target counts for the user: for an operator of some targets, these alone; `all` stands for every one. */
export function isTheirs(target: string): boolean {
  return me.value?.operates?.includes(target) ?? true
}

/** Whether the user may work on this target. */
export function mayOperate(target: string): boolean {
  return isOperator.value && isTheirs(target)
}
/** The reason why the user has to sign in again. */
export const ending = signal<'expired' | 'signedOut' | 'unanswered'>()

/** Asks the host for the user's rights now, instead of at the next renewal. */
export function askRights(): Promise<boolean> {
  return panel.renew()
}

/** Applies the rights that the host has just confirmed: administrator pages appear or disappear. */
async function learnRights(): Promise<void> {
  if (!me.peek() && !enrolling.peek()) return
  const next = await api('GET /api/auth/me')
  const known = me.peek() ?? enrolling.peek()
  if (!known || rightsOf(next) === rightsOf(known)) return
  const { lang, theme, sidebar_position } = known
  see({ ...next, lang, theme, sidebar_position })
}

function rightsOf({ role, operates, must_enrol }: Me): string {
  return JSON.stringify([role, operates, must_enrol])
}

/** Shows the panel to a user, or the page where they add their second factor. */
function see(known: Me): void {
  me.value = known.must_enrol ? undefined : known
  enrolling.value = known.must_enrol ? known : undefined
}

/** Callbacks that clear user data at sign-out. */
const signOutCallbacks = new Set<() => void>()
export function onSignOut(forget: () => void): void {
  signOutCallbacks.add(forget)
}

onWindowMessage((told) => {
  if (told.what === 'signedOut') {
    if (me.value || enrolling.value) leave('signedOut')
  } else if (told.what === 'confirmed') {
    if (me.value || enrolling.value) void hearConfirmation()
    // This browser's session now belongs to another user: this page would act in their name.
  } else if (told.username !== me.value?.username) location.reload()
})

/** It was in another window, but of the same session: its next token tells of it. */
async function hearConfirmation(): Promise<void> {
  try {
    await panel.renew()
    endConfirmation(true)
  } catch {
    // The question stays.
  }
}

onSignOut(() => {
  asksMore.value = undefined
  endConfirmation(false)
})

function leave(why: 'expired' | 'signedOut' | 'unanswered'): void {
  ending.value = why
  me.value = undefined
  enrolling.value = undefined
  visit.abort()
  visit = new AbortController()
  runSignOutCallbacks()
  try {
    localStorage.removeItem(STORAGE_KEY)
  } catch {
    // Without storage there is nothing to remove.
  }
}

/** Runs every callback even if one throws: an open shell must not stay because of another error. */
function runSignOutCallbacks(): void {
  for (const forget of signOutCallbacks) {
    try {
      forget()
    } catch (error) {
      reportError(error)
    }
  }
}

/** Marks that this browser has a session. It is not a secret, and saves newcomers a request that would fail. */
const STORAGE_KEY = 'ops-panel.session'

/** Resumes the session of this browser; false when there is none. */
export async function resume(): Promise<boolean> {
  if (!mayHaveSession()) return false
  if (!(await panel.resume())) {
    leave('expired')
    return false
  }
  see(await api('GET /api/auth/me'))
  return true
}

/** A sign-in that goes on: the service asks for more than was given so far. */
export const asksMore = signal<ApiError>()

/**
 * Signs in. `ask` sends what the user has typed; where the service then asks for more, `asksMore` has its question. A user
 * who has never chosen preferences adopts the ones that are shown now.
 */
export async function signIn(ask: () => Promise<unknown>, shown: Shown): Promise<void> {
  try {
    await ask()
  } catch (error) {
    if (!(error instanceof ApiError) || error.challenge === undefined) throw error
    asksMore.value = error
    return
  }
  asksMore.value = undefined
  runSignOutCallbacks()
  const known = await api('GET /api/auth/me')
  const adopts = !(await hasChosen(known))
  see(adopts ? { ...known, ...shown } : known)
  // If the service does not store them, the next sign-in tries again.
  if (adopts) api('PATCH /api/auth/preferences', { body: shown }).catch(() => {})
  notifyWindows({ what: 'signedIn', username: known.username })
  ending.value = undefined
  try {
    localStorage.setItem(STORAGE_KEY, 'yes')
  } catch {
    // Without storage, each start asks the service for a session.
  }
}

/** Other values than the defaults were chosen; otherwise the service knows. */
async function hasChosen({ lang, theme, sidebar_position }: Me): Promise<boolean> {
  if (lang !== 'fr' || theme !== 'dark' || sidebar_position !== 'left') return true
  try {
    return (await api('GET /api/auth/preferences')).chosen
  } catch (error) {
    if (error instanceof ApiError) return true
    throw error
  }
}

function mayHaveSession(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== null
  } catch {
    return true
  }
}

/** Tells the service, and the other windows of this session, who the user is. */
export async function confirmBy(ask: () => Promise<unknown>): Promise<void> {
  await ask()
  endConfirmation(true)
  notifyWindows({ what: 'confirmed' })
}

export async function signOut(): Promise<void> {
  notifyWindows({ what: 'signedOut' })
  let isHeard = true
  try {
    await panel.signOut()
  } catch (error) {
    // The user is signed out here in any case, but the browser still has its cookie.
    if (!(error instanceof ApiError)) throw error
    isHeard = false
  } finally {
    leave(isHeard ? 'signedOut' : 'unanswered')
  }
  if (!isHeard)
    onceBack(
      () =>
        void panel.signOut().then(
          () => leave('signedOut'),
          () => {},
        ),
    )
}

/** Runs once the service is back, unless somebody has signed in by then. */
function onceBack(does: () => void): void {
  const before = reconnects.peek()
  const stop = reconnects.subscribe((times) => {
    if (times === before) return
    queueMicrotask(() => stop())
    if (!me.peek()) does()
  })
}

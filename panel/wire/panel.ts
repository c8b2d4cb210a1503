import { computed, signal } from '@preact/signals'
import { type Answer, ApiError, createPanel } from '../../client/index.ts'
import { heard, returns } from './connection.ts'
import { onTold, tellWindows } from './windows.ts'

export type Me = Answer<'GET /api/auth/me'>

/** One that is closed while it opens is closed once it is open: else browsers warn in their console. */
class PatientSocket extends WebSocket {
  override close(): void {
    if (this.readyState === WebSocket.CONNECTING) this.addEventListener('open', () => super.close())
    else super.close()
  }
}

interface Shown {
  lang: 'fr' | 'en'
  theme: 'dark' | 'light'
}

/** What is under way when somebody signs out is let go: no answer to it reaches who signs in next. */
let visit = new AbortController()

/** What is asked every second: a service that is well has it at hand. Browsers wait for ever for one that has stopped in its tracks. */
const PULSE = '/api/updates/jobs'
const PULSE_MS = 15_000

/** Aborted when there should long have been an answer. */
function deadlineOf(url: string): { signal: AbortSignal; clear(): void } {
  const late = new AbortController()
  const timer = new URL(url).pathname === PULSE ? setTimeout(() => late.abort(), PULSE_MS) : undefined
  return { signal: late.signal, clear: () => clearTimeout(timer) }
}

/** The service, through the project's own client. The access token is in there alone. */
export const panel = createPanel({
  url: location.origin,
  async fetch(url, init) {
    const { signal: left } = visit
    const deadline = deadlineOf(url)
    const signal = AbortSignal.any([left, deadline.signal, ...(init.signal ? [init.signal] : [])])
    try {
      const answer = await fetch(url, { ...init, signal })
      heard(answer.status < 502 || answer.headers.has('x-request-id'))
      return answer
    } catch (error) {
      if (!left.aborted && !init.signal?.aborted) heard(false)
      throw error
    } finally {
      deadline.clear()
    }
  },
  WebSocket: PatientSocket,
  onSignedOut: () => leave('expired'),
  onRenewed: () => void learnRights().catch(() => {}),
})
export const { api } = panel

/** Who is signed in. */
export const me = signal<Me>()
export const isAdmin = computed(() => me.value?.is_admin === true)
/** Why somebody has to sign in again. */
export const ending = signal<'expired' | 'signedOut' | 'unheard'>()

/** Has the host asked now who this is, instead of a quarter of an hour later. */
export function askRights(): Promise<boolean> {
  return panel.renew()
}

/** The host was asked again who this is: what only administrators may do comes and goes with the answer. */
async function learnRights(): Promise<void> {
  if (!me.peek()) return
  const { is_admin } = await api('GET /api/auth/me')
  const known = me.peek()
  if (known && known.is_admin !== is_admin) me.value = { ...known, is_admin }
}

/** What to do once nobody is signed in any more: what is known of them is forgotten. */
const forgetting = new Set<() => void>()
export function atSignOut(forget: () => void): void {
  forgetting.add(forget)
}

onTold((told) => {
  if (told.what === 'signedOut') {
    if (me.value) leave('signedOut')
    // The session of this browser is somebody else's now: a page that goes on would act in their name.
  } else if (told.username !== me.value?.username) location.reload()
})

function leave(why: 'expired' | 'signedOut' | 'unheard'): void {
  ending.value = why
  me.value = undefined
  visit.abort()
  visit = new AbortController()
  forgetAll()
  try {
    localStorage.removeItem(KEPT)
  } catch {
    // Nor was it kept.
  }
}

/** Each, whatever becomes of the others: an open shell must not stay because of something else. */
function forgetAll(): void {
  for (const forget of forgetting) {
    try {
      forget()
    } catch (error) {
      reportError(error)
    }
  }
}

/** That this browser has a session. It is no secret, and spares newcomers a question whose answer is an error. */
const KEPT = 'ops-panel.session'

/** Takes the session up that this browser has; false when there is none. */
export async function resume(): Promise<boolean> {
  if (!mayHaveSession()) return false
  if (!(await panel.resume())) {
    leave('expired')
    return false
  }
  me.value = await api('GET /api/auth/me')
  return true
}

/** Who has never chosen how the panel is shown has chosen what is shown now. */
export async function signIn(username: string, password: string, shown: Shown): Promise<void> {
  await panel.signIn(username, password)
  forgetAll()
  const known = await api('GET /api/auth/me')
  const adopts = !(await hasChosen(known))
  me.value = adopts ? { ...known, ...shown } : known
  // A service that does not store it is asked again at the next sign-in.
  if (adopts) api('PATCH /api/auth/preferences', { body: shown }).catch(() => {})
  tellWindows({ what: 'signedIn', username: me.value.username })
  ending.value = undefined
  try {
    localStorage.setItem(KEPT, 'yes')
  } catch {
    // Not allowed here: it is asked for each time.
  }
}

/** Who has others than the defaults has; of the rest the service knows. */
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
    return localStorage.getItem(KEPT) !== null
  } catch {
    return true
  }
}

export async function signOut(): Promise<void> {
  tellWindows({ what: 'signedOut' })
  let isHeard = true
  try {
    await panel.signOut()
  } catch (error) {
    // Signed out here in any case; but the browser still has its cookie.
    if (!(error instanceof ApiError)) throw error
    isHeard = false
  } finally {
    leave(isHeard ? 'signedOut' : 'unheard')
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

/** Does it when the service is back, unless somebody has signed in by then. */
function onceBack(does: () => void): void {
  const before = returns.peek()
  const stop = returns.subscribe((times) => {
    if (times === before) return
    queueMicrotask(() => stop())
    if (!me.peek()) does()
  })
}

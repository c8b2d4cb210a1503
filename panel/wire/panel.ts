import { computed, signal } from '@preact/signals'
import { type Answer, ApiError, createPanel } from '../../client/index.ts'
import { heard } from './connection.ts'

export type Me = Answer<'GET /api/auth/me'>

/** One that is closed while it opens is closed once it is open: else browsers warn in their console. */
class PatientSocket extends WebSocket {
  override close(): void {
    if (this.readyState === WebSocket.CONNECTING) this.addEventListener('open', () => super.close())
    else super.close()
  }
}

/** The service, through the project's own client. The access token is in there alone. */
export const panel = createPanel({
  url: location.origin,
  async fetch(url, init) {
    try {
      const answer = await fetch(url, init)
      heard(answer.status < 502 || answer.headers.has('x-request-id'))
      return answer
    } catch (error) {
      if (!init.signal?.aborted) heard(false)
      throw error
    }
  },
  WebSocket: PatientSocket,
  onSignedOut: () => leave('expired'),
})
export const { api } = panel

/** Who is signed in. */
export const me = signal<Me>()
export const isAdmin = computed(() => me.value?.is_admin === true)
/** Why somebody has to sign in again. */
export const ending = signal<'expired' | 'signedOut'>()

/** What to do once nobody is signed in any more: what is known of them is forgotten. */
const forgetting = new Set<() => void>()
export function atSignOut(forget: () => void): void {
  forgetting.add(forget)
}

/** Other windows of the same browser have the same session: they are told of its end, and of nothing else. */
const windows = new BroadcastChannel('ops-panel')
windows.onmessage = () => {
  if (me.value) void signOut('elsewhere')
}

function leave(why: 'expired' | 'signedOut'): void {
  ending.value = why
  me.value = undefined
  for (const forget of forgetting) forget()
  try {
    localStorage.removeItem(KEPT)
  } catch {
    // Nor was it kept.
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

export async function signIn(username: string, password: string): Promise<void> {
  await panel.signIn(username, password)
  me.value = await api('GET /api/auth/me')
  ending.value = undefined
  try {
    localStorage.setItem(KEPT, 'yes')
  } catch {
    // Not allowed here: it is asked for each time.
  }
}

function mayHaveSession(): boolean {
  try {
    return localStorage.getItem(KEPT) !== null
  } catch {
    return true
  }
}

export async function signOut(from: 'here' | 'elsewhere' = 'here'): Promise<void> {
  if (from === 'here') windows.postMessage('signed out')
  try {
    await panel.signOut()
  } catch (error) {
    // Signed out here in any case; the service ends the session by its time.
    if (!(error instanceof ApiError)) throw error
  } finally {
    leave('signedOut')
  }
}

import { ApiError } from './api-error.ts'
import type { Request } from './request.ts'

/** The client renews a token this long before it expires, or at half of its life if that is shorter. */
const MARGIN_SECONDS = 60
/** After this time, callers that wait for a new token get an error. */
const REFRESH_MS = 30_000

const REFRESH = 'POST /api/auth/refresh'
/** The pause after a renewal that failed for a temporary reason. */
const AGAIN_MS = 5_000

/** Holds the access token of the signed-in user, in memory only. */
export interface Session {
  /** Returns the token, renewed first when it is about to expire; undefined when nobody is signed in. */
  token(): Promise<string | undefined>
  /** Returns the token that follows this one. Concurrent callers share one request. Undefined when the session has ended. */
  renew(after?: string): Promise<string | undefined>
  /** Begins a session, or goes on with the one of the token `after`, unless that one has ended. */
  begin(given: Given, after?: string): void
  end(): void
  /** Keeps the token fresh and reports each new one until the caller unsubscribes; undefined reports the end of the session. */
  watch(listener: (token: string | undefined) => void): () => void
}

/** The service states the lifetime in seconds from now, because the two clocks may differ. */
export interface Given {
  access_token: string
  expires_in: number
}

const now = () => performance.now()

export function createSession(request: Request, onSignedOut: () => void, onRenewed: () => void = () => {}): Session {
  let token: string | undefined
  let renewAt = 0
  let renewing: Promise<string | undefined> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const listeners = new Set<(token: string | undefined) => void>()

  const schedule = () => {
    clearTimeout(timer)
    if (token && listeners.size > 0) timer = setTimeout(() => void renew(token).catch(retry), renewAt - now())
  }
  const retry = () => {
    renewAt = now() + AGAIN_MS
    schedule()
  }
  const set = (next: string | undefined) => {
    token = next
    // A late answer must not undo a sign-in or sign-out that happened in the meantime.
    renewing = undefined
    schedule()
    for (const listener of listeners) listener(next)
  }
  const begin = ({ access_token, expires_in }: Given, after?: string) => {
    if (after !== undefined && token === undefined) return
    renewAt = now() + (expires_in - Math.min(MARGIN_SECONDS, expires_in / 2)) * 1000
    set(access_token)
  }
  const refresh = () => {
    const mine = () => renewing === current
    const current = request(REFRESH, { signal: AbortSignal.timeout(REFRESH_MS) }).then(
      (answer) => {
        if (mine()) {
          begin(answer)
          onRenewed()
        }
        return token
      },
      (error) => {
        if (!mine()) return token
        renewing = undefined
        if (!(error instanceof ApiError) || error.status !== 401) throw error
        const known = token
        set(undefined)
        if (known) onSignedOut()
        return token
      },
    )
    renewing = current
    return current
  }
  const renew = async (after?: string) => (token === after ? (renewing ?? refresh()) : token)

  return {
    async token() {
      // The old token is valid until its last second, so the service decides about the request.
      if (token && now() >= renewAt) await renew(token).catch(() => {})
      return token
    },
    renew,
    begin,
    end: () => set(undefined),
    watch(listener) {
      listeners.add(listener)
      schedule()
      return () => {
        listeners.delete(listener)
        schedule()
      }
    },
  }
}

/** Holds an API token in the place of a session. It cannot be renewed: once the service has refused it, there is none. */
export function tokenSession(token: string | undefined, onRefused: () => void): Session {
  return {
    token: async () => token,
    async renew(after) {
      if (token === after) {
        token = undefined
        if (after) onRefused()
      }
      return token
    },
    begin() {},
    end() {},
    watch: () => () => {},
  }
}

import { ApiError } from './api-error.ts'
import type { Request } from './request.ts'

/** A token is renewed so long before it expires, or after half of its life if that is shorter. */
const MARGIN_SECONDS = 60
/** By then whoever waits for a new token is better told. */
const REFRESH_MS = 30_000

const REFRESH = 'POST /api/auth/refresh'
/** When one has failed for a reason that passes. */
const AGAIN_MS = 5_000

/** The access token of who is signed in. It is nowhere else than here, in memory. */
export interface Session {
  /** The token, renewed first if it is about to expire; undefined when nobody is signed in. */
  token(): Promise<string | undefined>
  /** The token that comes after this one: one request, whoever else waits for it. Undefined when the session has ended. */
  renew(after?: string): Promise<string | undefined>
  begin(given: Given): void
  end(): void
  /** Keeps the token fresh, and tells of each new one, until it is let go; undefined tells of the end. */
  watch(listener: (token: string | undefined) => void): () => void
}

/** How long a token lives is told by the service, in seconds from now: the clocks of the two may differ. */
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
    // Whoever signs in or out meanwhile is not to be undone by an answer that is still on its way.
    renewing = undefined
    schedule()
    for (const listener of listeners) listener(next)
  }
  const begin = ({ access_token, expires_in }: Given) => {
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
      // Until its last second the old one is still good: what comes of it is the service's to say.
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

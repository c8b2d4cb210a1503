import * as z from 'zod'
import type { Caller } from '../../runtime/context.ts'

/** The name of the cookie that carries the refresh token. */
export const REFRESH_COOKIE = 'svc_refresh'

/** The schema of a request's cookies. */
export const RefreshCookies = z.object({ [REFRESH_COOKIE]: z.string().optional() })

const ATTRIBUTES = 'Path=/api/auth/; HttpOnly; SameSite=Strict'

/** Returns the `Set-Cookie` value that sets a refresh token. */
export function refreshCookie(token: string, expires: Date, { secure }: Pick<Caller, 'secure'>): string {
  return `${REFRESH_COOKIE}=${token}; ${ATTRIBUTES}; Expires=${expires.toUTCString()}${secure ? '; Secure' : ''}`
}

/**
 * Returns the `Set-Cookie` value that clears the cookie. hono's `setCookie` cannot write it: it drops a negative
 * Max-Age.
 */
export function clearedCookie({ secure }: Pick<Caller, 'secure'>): string {
  return `${refreshCookie('', new Date(0), { secure })}; Max-Age=-1`
}

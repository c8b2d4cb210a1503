import * as z from 'zod'
import type { Caller } from '../../runtime/context.ts'

/** The cookie that carries the refresh token. */
export const REFRESH_COOKIE = 'svc_refresh'

/** How a request brings it along. */
export const RefreshCookies = z.object({ [REFRESH_COOKIE]: z.string().optional() })

const ATTRIBUTES = 'Path=/api/auth/; HttpOnly; SameSite=Strict'

/** The `Set-Cookie` value that hands out a refresh token. */
export function refreshCookie(token: string, expires: Date, { secure }: Pick<Caller, 'secure'>): string {
  return `${REFRESH_COOKIE}=${token}; ${ATTRIBUTES}; Expires=${expires.toUTCString()}${secure ? '; Secure' : ''}`
}

/** The `Set-Cookie` value that takes it back. By hand: hono's `setCookie` drops a negative Max-Age. */
export function clearedCookie({ secure }: Pick<Caller, 'secure'>): string {
  return `${refreshCookie('', new Date(0), { secure })}; Max-Age=-1`
}

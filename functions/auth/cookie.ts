import type { Caller } from '../../runtime/context.ts'

/** The cookie that carries the refresh token. */
export const REFRESH_COOKIE = 'svc_refresh'

const ATTRIBUTES = 'Path=/api/auth/; HttpOnly; SameSite=Strict'

/** The `Set-Cookie` value that hands out a refresh token. */
export function refreshCookie(token: string, expires: Date, { secure }: Pick<Caller, 'secure'>): string {
  return `${REFRESH_COOKIE}=${token}; ${ATTRIBUTES}; Expires=${expires.toUTCString()}${secure ? '; Secure' : ''}`
}

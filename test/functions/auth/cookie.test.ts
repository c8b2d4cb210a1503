import { expect, test } from 'vitest'
import { refreshCookie } from '../../../functions/auth/cookie.ts'

const EXPIRES = new Date('2026-03-08T12:00:00.000Z')
const PLAIN = 'svc_refresh=a.b.c; Path=/api/auth/; HttpOnly; SameSite=Strict; Expires=Sun, 08 Mar 2026 12:00:00 GMT'

test('a refresh cookie reaches all of /api/auth/, hidden from scripts, and over TLS from TLS alone', () => {
  expect(refreshCookie('a.b.c', EXPIRES, { secure: false })).toBe(PLAIN)
  expect(refreshCookie('a.b.c', EXPIRES, { secure: true })).toBe(`${PLAIN}; Secure`)
})

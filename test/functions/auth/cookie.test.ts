import { expect, test } from 'vitest'
import { clearedCookie, refreshCookie } from '../../../functions/auth/cookie.ts'

const EXPIRES = new Date('2026-03-08T12:00:00.000Z')
const PLAIN = 'svc_refresh=a.b.c; Path=/api/auth/; HttpOnly; SameSite=Strict; Expires=Sun, 08 Mar 2026 12:00:00 GMT'

test('the refresh cookie covers /api/auth/, is hidden from scripts, and is Secure over TLS', () => {
  expect(refreshCookie('a.b.c', EXPIRES, { secure: false })).toBe(PLAIN)
  expect(refreshCookie('a.b.c', EXPIRES, { secure: true })).toBe(`${PLAIN}; Secure`)
})

test('the cleared cookie is empty, has the same scope, and expires by Expires and by Max-Age', () => {
  const cleared = 'svc_refresh=; Path=/api/auth/; HttpOnly; SameSite=Strict; Expires=Thu, 01 Jan 1970 00:00:00 GMT'

  expect(clearedCookie({ secure: false })).toBe(`${cleared}; Max-Age=-1`)
  expect(clearedCookie({ secure: true })).toBe(`${cleared}; Secure; Max-Age=-1`)
})

import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import * as z from 'zod'
import type { testApp } from '../../app.ts'
import { answered } from '../answers.ts'

type App = Awaited<ReturnType<typeof testApp>>

export const PASSWORD = 'right horse'
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code of a step by RFC 4226, computed without the library of the service. */
export function codeOf(secret: string, step: number, digits = 6): string {
  const bits = [...secret].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', key).update(counter).digest()
  const number = mac.readUInt32BE((mac.at(-1) ?? 0) & 15) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

/** The code of an authenticator now, or so many steps away. */
export function codeNow({ services }: App, secret: string, away = 0): string {
  return codeOf(secret, Math.floor(services.clock().getTime() / 30_000) + away)
}

/** A code that is none of those that are accepted now. */
export function wrongCode(app: App, secret: string): string {
  const near = [-2, -1, 0, 1, 2].map((away) => codeNow(app, secret, away))
  const code = ['000000', '111111', '222222', '333333', '444444', '555555'].find((each) => !near.includes(each))
  return code ?? '666666'
}

const Token = z.object({ access_token: z.string() })

export async function tokenOf(response: Response): Promise<string> {
  return Token.parse(await answered(response, 200)).access_token
}

export function signedBy(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}

/** Gives the password to the login, from an address of its own each time, so that its limit does not count. */
export function givePassword(app: App, username: string): Promise<Response> {
  logins += 1
  const from = `198.51.100.${logins % 250}`
  return app.request('POST', '/api/auth/login', { body: { username, password: PASSWORD }, from })
}
let logins = 0

/** Signs a user in who has no second factor, and returns the access token. */
export async function signIn(app: App, username = 'bob'): Promise<string> {
  return tokenOf(await givePassword(app, username))
}

const Begun = z.object({ secret: z.string(), uri: z.string(), challenge: z.string() })
const Added = z.object({ factor: z.object({ id: z.number() }), recovery_codes: z.array(z.string()).optional() })

/** Enrols an authenticator. Its code of the step before the present one is used up by that. */
export async function enrolTotp(app: App, token: string, name = 'Téléphone') {
  const headers = signedBy(token)
  const begun = Begun.parse(
    await answered(await app.request('POST', '/api/auth/factors/totp', { headers, body: { name } }), 200),
  )
  const body = { challenge: begun.challenge, code: codeNow(app, begun.secret, -1) }
  const added = Added.parse(
    await answered(await app.request('POST', '/api/auth/factors/totp/confirm', { headers, body }), 200),
  )
  return { ...begun, id: added.factor.id, codes: added.recovery_codes ?? [] }
}

const Asked = z.object({
  error: z.string(),
  code: z.literal('factor_required'),
  challenge: z.string(),
  factors: z.array(z.string()),
})

/** Gives the password of a user with a second factor, and returns what is asked. */
export async function askedFactor(app: App, username = 'bob') {
  const response = await givePassword(app, username)
  expect(response.status).toBe(401)
  expect(response.headers.get('set-cookie')).toBeNull()
  return Asked.parse(await response.json())
}

/** Answers a challenge of a sign-in by a code. */
export function answer(app: App, challenge: string, code: string, factor = 'totp'): Promise<Response> {
  answers += 1
  const from = `203.0.113.${answers % 250}`
  return app.request('POST', '/api/auth/login/answers', { body: { challenge, factor, answers: [code] }, from })
}
let answers = 0

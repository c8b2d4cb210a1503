import { expect } from 'vitest'
import * as z from 'zod'
import type { testApp } from '../../app.ts'
import { answered, decoded } from '../answers.ts'

export type App = Awaited<ReturnType<typeof testApp>>

const Answer = z.object({ access_token: z.string() })
const Claims = z.object({ sub: z.string(), sid: z.string() })

/** A client that has signed in: what it keeps, and the headers that it sends from then on. */
export interface Client {
  token: string
  /** The value of its cookie. */
  refresh: string
  /** The id of its session. */
  sid: number
  userId: number
  /** The headers of a request with the token, and with the cookie unless it is left out. */
  headers(options?: { cookie?: boolean }): Record<string, string>
}

let addresses = 0

/** Signs in through the pipeline, from an address of its own so that no limit is met. */
export async function signIn(
  app: Pick<App, 'request'>,
  username = 'bob',
  headers: Record<string, string> = {},
): Promise<Client> {
  addresses += 1
  const from = `198.51.${Math.floor(addresses / 250)}.${addresses % 250}`
  const body = { username, password: 'right horse' }
  const response = await app.request('POST', '/api/auth/login', { body, from, headers })
  const [cookie = ''] = response.headers.getSetCookie()
  const { access_token: token } = Answer.parse(await answered(response, 200))
  const { sub, sid } = Claims.parse(decoded(token).claims)
  const refresh = /^svc_refresh=([^;]+);/.exec(cookie)?.[1] ?? ''
  expect(refresh).not.toBe('')
  return {
    token,
    refresh,
    sid: Number(sid),
    userId: Number(sub),
    headers: ({ cookie: withCookie = true } = {}) => ({
      authorization: `Bearer ${token}`,
      ...(withCookie && { cookie: `svc_refresh=${refresh}` }),
    }),
  }
}

/** The ids of the stored sessions, in order. */
export async function storedSessions({ db }: Pick<App, 'db'>): Promise<number[]> {
  const found = await db.query(z.object({ id: z.number() }), 'SELECT id FROM sessions ORDER BY id')
  return found.map(({ id }) => id)
}

/** The status of a request for the profile: 200 while the token is believed. */
export async function meStatus(app: Pick<App, 'request'>, client: Client): Promise<number> {
  return (await app.request('GET', '/api/auth/me', { headers: client.headers({ cookie: false }) })).status
}

/** The status of a refresh with the client's cookie alone. */
export async function refreshStatus(app: Pick<App, 'request'>, { refresh }: Client): Promise<number> {
  return (await app.request('POST', '/api/auth/refresh', { headers: { cookie: `svc_refresh=${refresh}` } })).status
}

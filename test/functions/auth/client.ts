import { expect } from 'vitest'
import * as z from 'zod'
import type { testApp } from '../../app.ts'
import { answered, decoded } from '../answers.ts'

export type App = Awaited<ReturnType<typeof testApp>>

const Answer = z.object({ access_token: z.string() })
const Claims = z.object({ sub: z.string(), sid: z.string() })

/** A signed-in client: its cookie and token, and the headers that it sends from then on. */
export interface Client {
  token: string
  /** Returns the value of its cookie. */
  refresh: string
  /** Returns the id of its session. */
  sid: number
  userId: number
  /** Returns the headers of a request with the token, and with the cookie unless omitted. */
  headers(options?: { cookie?: boolean }): Record<string, string>
}

let addresses = 0

/** Signs in through the pipeline, from a new address so that no limit applies. */
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

/** Returns the ids of the stored sessions, in order. */
export async function storedSessions({ db }: Pick<App, 'db'>): Promise<number[]> {
  const found = await db.query(z.object({ id: z.number() }), 'SELECT id FROM sessions ORDER BY id')
  return found.map(({ id }) => id)
}

/** Returns the status of a request for the profile: 200 while the token is accepted. */
export async function meStatus(app: Pick<App, 'request'>, client: Client): Promise<number> {
  return (await app.request('GET', '/api/auth/me', { headers: client.headers({ cookie: false }) })).status
}

/** Returns the status of a refresh with only the client's cookie. */
export async function refreshStatus(app: Pick<App, 'request'>, { refresh }: Client): Promise<number> {
  return (await app.request('POST', '/api/auth/refresh', { headers: { cookie: `svc_refresh=${refresh}` } })).status
}

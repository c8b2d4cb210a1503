import { expect } from 'vitest'
import * as z from 'zod'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import revoke from '../../../functions/tokens/token.delete.ts'
import list from '../../../functions/tokens/tokens.get.ts'
import make from '../../../functions/tokens/tokens.post.ts'
import type { AnyFunction } from '../../../runtime/function.ts'
import { type FakeAccount, testApp } from '../../app.ts'
import { answered } from '../answers.ts'
import { signIn } from '../auth/client.ts'

export const ADMIN: FakeAccount = { uid: 1000, groups: ['admins'] }
export const VIEWER: FakeAccount = { uid: 1000, groups: ['viewers'] }
export const OPERATOR: FakeAccount = { uid: 1000, groups: ['ops'] }
/** Works on two containers. */
export const WEB: FakeAccount = { uid: 1000, groups: ['web'] }

const GROUPS = {
  PANEL_ADMIN_GROUPS: 'admins',
  PANEL_OPERATOR_GROUPS: 'web:lxc/101,lxc/102;ops',
  PANEL_VIEWER_GROUPS: 'viewers',
}

const Made = z.object({ id: z.number(), token: z.string() })
export type Made = z.infer<typeof Made>

/** A service whose host says of each account what the test last told it; `alice` is an administrator at first. */
export async function startWithOwners(more: readonly AnyFunction[] = [], env: Record<string, string> = {}) {
  const told = new Map<string, FakeAccount | Error>([['alice', ADMIN]])
  const asked: string[] = []
  const wordOf = (username: string): FakeAccount | Error => {
    const word = told.get(username)
    return word === undefined ? OPERATOR : word
  }
  const app = await testApp([login, me, refresh, list, make, revoke, ...more], {
    env: { ...GROUPS, ...env },
    fake: {
      signIn(username) {
        const word = wordOf(username)
        return word instanceof Error ? OPERATOR : word
      },
      inspect(username) {
        asked.push(username)
        const word = wordOf(username)
        if (word instanceof Error) throw word
        return word
      },
    },
  })
  /** Signs in; from now on the host says `word` of the account. */
  const signedIn = async (username: string, word: FakeAccount | Error = wordOf(username)) => {
    told.set(username, word)
    const client = await signIn(app, username)
    const headers = client.headers({ cookie: false })
    const send = (method: string, path: string, body?: unknown) => app.request(method, path, { headers, body })
    return {
      ...client,
      send,
      make: async (body: Record<string, unknown> = {}): Promise<Made> => {
        const wanted = { name: 'Supervision', role: 'viewer', targets: 'all', ...body }
        return Made.parse(await answered(await send('POST', '/api/auth/tokens', wanted), 201))
      },
    }
  }
  return {
    ...app,
    app,
    asked,
    say: (username: string, word: FakeAccount | Error) => told.set(username, word),
    signedIn,
    /** Sends a request with an API token. */
    use: (token: string, path = '/api/auth/me', { method = 'GET', body, from }: Use = {}) =>
      app.request(method, path, { headers: { authorization: `Bearer ${token}` }, body, ...(from && { from }) }),
    meOf: async (token: string) =>
      Me.parse(
        await answered(
          await app.request('GET', '/api/auth/me', { headers: { authorization: `Bearer ${token}` } }),
          200,
        ),
      ),
  }
}

interface Use {
  method?: string
  body?: unknown
  from?: string
}

const Me = z.object({ username: z.string(), role: z.string(), operates: z.array(z.string()).optional() })

/** Checks that a token is refused as one that does not exist. */
export async function expectRefused(response: Response): Promise<void> {
  expect({ status: response.status, body: await response.text() }).toEqual({
    status: 401,
    body: expect.stringContaining('"code":"unauthenticated"'),
  })
}

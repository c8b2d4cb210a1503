import * as z from 'zod'
import { listAccounts } from '../../db/access/users.ts'
import { timestamp } from '../../platform/clock.ts'
import { READS } from '../../runtime/function.ts'
import { integerText } from '../../runtime/input.ts'
import { rightsFrom } from '../auth/host-account.ts'
import { defineFunction } from '../services.ts'
import { Account } from './account.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/users',
  summary: 'Everybody who has signed in',
  description:
    'Lists the accounts that have signed in, by name, with their role as the host last told it, and with the numbers of their unexpired sessions and API tokens, of their factors and of their unused recovery codes. `next` is the `after` of the following accounts, or null after the last.',
  auth: 'admin',
  rateLimit: READS,
  request: {
    query: z.object({
      limit: integerText({ min: 1, max: 500 }).default(100),
      after: z.string().max(256).optional().meta({ description: 'The `next` of the page before.' }),
    }),
  },
  response: z.object({ users: z.array(Account), next: z.string().nullable() }),
  example: {
    query: { limit: '100' },
    response: {
      users: [
        {
          id: 7,
          username: 'alice',
          role: 'operator',
          operates: ['lxc:101', 'lxc:102'],
          last_login_at: '2026-03-01T12:00:00.000Z',
          rights_at: '2026-03-01T12:10:00.000Z',
          sessions: 2,
          tokens: 1,
          factors: { totp: 1, passkeys: 0, recovery_codes: 9 },
          barred_at: null,
          barred_by: null,
        },
      ],
      next: null,
    },
  },

  async handler({ query: { limit, after } }, { db, clock }) {
    // One account more than the limit shows whether another page follows.
    const found = await listAccounts(db, timestamp(clock()), {
      ...(after !== undefined && { after }),
      limit: limit + 1,
    })
    const page = found.slice(0, limit)
    const users = page.map(({ is_admin, operates, totp, passkeys, recovery_codes, ...account }) => {
      const rights = rightsFrom({ is_admin, operates })
      const targets = rights.operates === 'all' ? rights.operates : [...rights.operates]
      return { ...account, role: rights.role, operates: targets, factors: { totp, passkeys, recovery_codes } }
    })
    return { users, next: found.length > limit ? (page.at(-1)?.username ?? null) : null }
  },
})

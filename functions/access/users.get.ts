import * as z from 'zod'
import { listAccounts } from '../../db/access/users.ts'
import { timestamp } from '../../platform/clock.ts'
import { READS } from '../../runtime/function.ts'
import { rightsFrom } from '../auth/host-account.ts'
import { defineFunction } from '../services.ts'
import { Account } from './account.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/users',
  summary: 'Everybody who has signed in',
  description:
    'Lists the accounts that have signed in, by name, with their role as the host last told it, and with the numbers of their unexpired sessions and API tokens, of their factors and of their unused recovery codes.',
  auth: 'admin',
  rateLimit: READS,
  response: z.array(Account),
  example: {
    response: [
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
  },

  async handler(_, { db, clock }) {
    const accounts = await listAccounts(db, timestamp(clock()))
    return accounts.map(({ is_admin, operates, totp, passkeys, recovery_codes, ...account }) => {
      const rights = rightsFrom({ is_admin, operates })
      const targets = rights.operates === 'all' ? rights.operates : [...rights.operates]
      return { ...account, role: rights.role, operates: targets, factors: { totp, passkeys, recovery_codes } }
    })
  },
})

import * as z from 'zod'
import { barringAccount } from '../../db/access/users.ts'
import { withCount } from '../../db/audit.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { expectAccount, GivenAccountId } from './account.ts'

export default defineFunction({
  method: 'PUT',
  path: '/api/auth/users/:id/bar',
  summary: 'Bar an account',
  description:
    'Ends every session of one account at once, and refuses its sign-ins, refreshes and API tokens from then on, on every instance. Its account on the host stays as it is. Nobody bars their own account; `ops-panel users unbar` on the console lifts every bar.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['account_barred'],
  request: { params: z.object({ id: GivenAccountId }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'Ce compte est exclu de ce panneau.' } },
  errors: ['account_unknown', 'bar_self'],

  async handler({ params: { id } }, services) {
    const { user, sessions, clock, auditEntry, fail } = services
    const account = await expectAccount(services, id)
    if (account.id === user.id) throw fail('bar_self')
    await sessions.end({ userId: account.id }, (count) => {
      const entry = withCount(auditEntry('account_barred', { target: account.username }), 'sessions', count)
      return barringAccount(account.id, user.username, timestamp(clock()), entry)
    })
    await sessions.endTokens({ userId: account.id })
    return { message: 'Ce compte est exclu de ce panneau.' }
  },
})

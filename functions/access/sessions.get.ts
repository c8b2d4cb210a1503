import * as z from 'zod'
import { listSessions, ProvenBy } from '../../db/sessions.ts'
import { timestamp } from '../../platform/clock.ts'
import { READS } from '../../runtime/function.ts'
import { SessionId } from '../../sessions/sessions.ts'
import { defineFunction } from '../services.ts'
import { expectAccount, GivenAccountId } from './account.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/users/:id/sessions',
  summary: 'The sessions of an account',
  description:
    'Lists the sessions of one account that have not expired, the last used first, each with the last proof of who its user is.',
  auth: 'admin',
  rateLimit: READS,
  request: { params: z.object({ id: GivenAccountId }) },
  response: z.array(
    z.object({
      id: SessionId,
      user_agent: z.string(),
      ip: z.string(),
      created_at: z.string(),
      last_used_at: z.string().nullable(),
      expires_at: z.string(),
      proven_at: z.string(),
      proven_by: ProvenBy,
    }),
  ),
  example: {
    response: [
      {
        id: 12,
        user_agent: 'Mozilla/5.0',
        ip: '192.0.2.7',
        created_at: '2026-03-01T12:00:00.000Z',
        last_used_at: '2026-03-01T12:10:00.000Z',
        expires_at: '2026-03-08T12:00:00.000Z',
        proven_at: '2026-03-01T12:00:00.000Z',
        proven_by: 'password',
      },
    ],
  },
  errors: ['account_unknown'],

  async handler({ params: { id } }, services) {
    const account = await expectAccount(services, id)
    const sessions = await listSessions(services.db, account.id, timestamp(services.clock()))
    return sessions.map(({ token_hash: _, ...session }) => session)
  },
})

import * as z from 'zod'
import { unbarAccount } from '../../db/access/users.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { expectAccount, GivenAccountId } from './account.ts'

export default defineFunction({
  method: 'DELETE',
  path: '/api/auth/users/:id/bar',
  summary: 'Lift the bar of an account',
  description: 'Lets one account sign in again, and accepts its API tokens again. It changes nothing without a bar.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['account_unbarred'],
  request: { params: z.object({ id: GivenAccountId }) },
  response: z.object({ message: z.string() }),
  example: { response: { message: 'Ce compte est de nouveau admis.' } },
  errors: ['account_unknown'],

  async handler({ params: { id } }, services) {
    const account = await expectAccount(services, id)
    await unbarAccount(services.db, account.id, services.auditEntry('account_unbarred', { target: account.username }))
    return { message: 'Ce compte est de nouveau admis.' }
  },
})

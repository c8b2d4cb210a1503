import * as z from 'zod'
import { findHostAccount, type HostAccount } from '../../db/users.ts'
import { ROLES } from '../../runtime/context.ts'
import { documentedAs } from '../../runtime/input.ts'
import { fail, type Services } from '../services.ts'

/** The id of a user, as `GET /api/auth/users` lists it. */
export const AccountId = z
  .int()
  .positive()
  .meta({ id: 'AccountId', description: 'Names an account that has signed in.', examples: [7] })

/** The id in an address. Text that is not a number means an account that does not exist. */
export const GivenAccountId = documentedAs(AccountId, z.string())

/** An account that has signed in, as administrators see it. */
export const Account = z.object({
  id: AccountId,
  username: z.string(),
  role: z.enum(ROLES),
  operates: z.union([z.literal('all'), z.array(z.string())]).meta({
    description: 'The targets that it works on; none for a viewer.',
  }),
  last_login_at: z.string().nullable(),
  rights_at: z.string().nullable().meta({ description: 'When the host last confirmed the account and its rights.' }),
  sessions: z.int(),
  tokens: z.int(),
  factors: z.object({ totp: z.int(), passkeys: z.int(), recovery_codes: z.int() }),
  barred_at: z.string().nullable(),
  barred_by: z.string().nullable(),
})

/** Returns the account with the id in an address. Throws `account_unknown`. */
export async function expectAccount({ db }: Pick<Services, 'db'>, id: string): Promise<HostAccount> {
  const account = /^\d{1,15}$/.test(id) ? await findHostAccount(db, Number(id)) : undefined
  if (!account) throw fail('account_unknown')
  return account
}

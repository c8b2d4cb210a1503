import { findHostAccount, type HostAccount } from '../../db/users.ts'
import { Failure } from '../../runtime/errors.ts'
import type { ENTRY_ERRORS } from '../auth/entry.ts'
import { type Ended, recheckAbsent, type Rights } from '../auth/host-account.ts'
import type { Context, ErrorCode } from '../services.ts'

/** The codes that `confirmedRights` throws beside those of every sign-in. */
export const HOST_ERRORS = [
  'account_unusable',
  'account_kept_out',
  'host_silent',
] as const satisfies readonly ErrorCode[]

/**
 * Asks the host about the account of a correct passkey, as its PAM would be asked about a password. Returns what the
 * account may do. Throws one of `HOST_ERRORS` or `ENTRY_ERRORS` for an account that may not sign in, and where the host does
 * not tell; nothing that is stored replaces its word.
 */
export async function confirmedRights(
  context: Context<undefined, (typeof HOST_ERRORS | typeof ENTRY_ERRORS)[number], 'login_failed'>,
  account: HostAccount,
): Promise<Rights> {
  const { db, settings, caller, audit, fail } = context
  const refuse = async (
    reason: Ended | 'kept_out' | 'unconfirmed',
    code: Parameters<typeof fail>[0],
    cause?: unknown,
  ) => {
    await audit('login_failed', { user: account, details: { factor: 'passkey', reason } })
    return fail(code, { cause })
  }
  await settings.sshAccount().catch(async (error: unknown) => {
    throw error instanceof Failure ? await refuse('unconfirmed', 'host_silent', error) : error
  })
  const rights = await recheckAbsent(context, account, caller.address)
  if (rights === undefined) throw await refuse('unconfirmed', 'host_silent')
  if (rights === 'barred') throw await refuse(rights, 'account_barred')
  if (rights === 'uninvited') throw await refuse(rights, 'not_invited')
  if (typeof rights === 'string') throw await refuse(rights, 'account_unusable')
  // The host has just told whether it lets the account work: no shell, a password to change, an expired account.
  const { kept_out = true, barred_at = null } = (await findHostAccount(db, account.id)) ?? {}
  // The bar of a moment ago has ended the sessions that there were.
  if (barred_at !== null) throw await refuse('barred', 'account_barred')
  if (kept_out) throw await refuse('kept_out', 'account_kept_out')
  return rights
}

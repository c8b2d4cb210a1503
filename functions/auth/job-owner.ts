import { findHostAccount, type HostAccount } from '../../db/users.ts'
import type { User } from '../../runtime/context.ts'
import { fail, type Services } from '../services.ts'

/** The codes that `requireOwner` throws. */
export const OWNER_ERRORS = ['ssh_incomplete', 'ssh_password_unreadable', 'profile_missing'] as const

/** The codes that `requireWorker` throws. */
export const WORKER_ERRORS = [...OWNER_ERRORS, 'account_kept_out'] as const

type Given = Pick<Services, 'db' | 'settings'> & { user: User }

/**
 * Requires what every job on the host needs: a service account, and a record of the user who starts it. For
 * administrators this is enough, because the host lets their own accounts work.
 */
export async function requireOwner({ db, settings, user }: Given): Promise<HostAccount> {
  await settings.sshAccount()
  // The token may outlive its user's record.
  const account = await findHostAccount(db, user.id)
  if (!account) throw fail('profile_missing')
  return account
}

/** Requires the same, and that the host lets the user's own account work. */
export async function requireWorker(given: Given): Promise<void> {
  if ((await requireOwner(given)).kept_out) throw fail('account_kept_out')
}

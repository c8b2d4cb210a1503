import { findHostAccount } from '../../db/users.ts'
import { type AccountServices, endAccount, recheckRights } from '../auth/host-account.ts'

/**
 * Asks the host about the owner of an API token, as a refresh does about the user of a session: changed rights are stored,
 * and an account that is gone, locked or no longer invited ends everywhere. Returns whether the stored rights count.
 */
export async function askOwner(services: AccountServices, userId: number): Promise<boolean> {
  const user = await findHostAccount(services.db, userId)
  if (!user) return false
  const rights = await recheckRights(services, user, 'host')
  if (typeof rights !== 'string') return true
  if (rights !== 'barred') await endAccount(services, user, rights, { address: 'host' })
  return false
}

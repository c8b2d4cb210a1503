import type { Database } from '../../db/client.ts'
import { findUserByName } from '../../db/users.ts'
import type { Config } from '../../runtime/config.ts'
import { Failure } from '../../runtime/errors.ts'
import type { Host } from '../../runtime/host.ts'
import type { Identity } from '../../runtime/identity.ts'
import type { Log } from '../../runtime/log.ts'
import { SshError } from '../../runtime/ssh-connection.ts'

/**
 * Whether a signed-in user is an administrator: uid 0, or a member of one of the configured groups.
 *
 * What the user's own login says can be forged by the user: sshd runs commands through the login shell, which reads
 * start-up files that belong to the user. So a claim to be an administrator is confirmed through the service account.
 * While that account cannot be asked, who was confirmed at the last login stays an administrator, so that somebody can
 * mend the settings; where no account is set yet, the claim stands alone.
 */
export async function isAdministrator(
  { db, host, config, log }: { db: Database; host: Host; config: Config; log: Log },
  username: string,
  claimed: Identity,
): Promise<boolean> {
  if (!belongs(claimed, config.adminGroups)) return false
  try {
    return belongs(await host.identify(username), config.adminGroups)
  } catch (error) {
    if (error instanceof Failure && error.code === 'ssh_incomplete') return true
    if (!(error instanceof SshError || error instanceof Failure)) throw error
    const before = (await findUserByName(db, username))?.is_admin ?? false
    log.warn({ username, before, err: error }, 'administrator not confirmed: the service account cannot be asked')
    return before
  }
}

function belongs(identity: Identity, groups: readonly string[]): boolean {
  return identity !== null && (identity.uid === 0 || identity.groups.some((group) => groups.includes(group)))
}

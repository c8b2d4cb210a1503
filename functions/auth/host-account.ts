import { changeRights, type HostAccount, type Learnt } from '../../db/users.ts'
import { auditStatement } from '../../runtime/audit.ts'
import type { Services } from '../../runtime/context.ts'
import { Failure } from '../../runtime/errors.ts'
import { type Account, type Claim, type Identity, isAccountName, refusesCommands } from '../../runtime/identity.ts'
import { SshError } from '../../runtime/ssh-connection.ts'

/** A browser waits for its token meanwhile; whoever is not confirmed by then is an ordinary user until the next time. */
const REFRESH_MS = 5_000

/** Who has signed in, and with which rights. */
export interface Entrant {
  username: string
  isAdmin: boolean
  learnt: Learnt
}

/**
 * What the host says, through the service account, of who has just signed in: the name under which the account is known,
 * and whether it is an administrator's. Undefined when there is no such account.
 *
 * What the account's own login says can be forged by its owner: sshd runs commands through the login shell, which reads
 * start-up files that belong to the user. So it takes rights away, and never gives any. Whoever cannot be confirmed is no
 * administrator; see `docs/decisions/0022`.
 */
export async function meet(services: Services, typed: string, { identity, runs }: Claim): Promise<Entrant | undefined> {
  const account = await inspect(services, typed)
  if (account === 'gone') return undefined
  const claims = identity !== null && belongs({ ...identity, sudo: true }, services.config)
  const own_word = identity === null ? (runs ? 'silent' : 'refused') : claims ? 'administrator' : 'user'
  if (account === 'unconfirmed' || account === 'unasked') {
    const isAdmin = claims && account === 'unasked'
    return { username: typed, isAdmin, learnt: { own_word, kept_out: own_word === 'refused' } }
  }
  if (!isAccountName(account.name)) return undefined
  const kept_out = own_word === 'refused' || isKeptOut(account)
  const shadow_counts = account.localPassword !== false && account.overdue !== 'expired'
  const isAdmin = claims && !kept_out && belongs(account, services.config)
  return { username: account.name, isAdmin, learnt: { own_word, kept_out, uid: account.uid, shadow_counts } }
}

/** Why the sessions of an account are over. */
export type Ended = 'gone' | 'name' | 'replaced' | 'locked' | 'expired'

/** Asks the host again about somebody whose session goes on, and stores what has changed; or says why it must not go on. */
export async function askAgain(services: Services, user: HostAccount, address: string): Promise<boolean | Ended> {
  if (!isAccountName(user.username)) return 'name'
  const account = await inspect(services, user.username, { withinMs: REFRESH_MS, shared: true })
  if (account === 'gone') return account
  const claims = user.own_word === 'administrator'
  let { kept_out, uid } = user
  let isAdmin = claims && account === 'unasked' && user.is_admin
  if (account !== 'unconfirmed' && account !== 'unasked') {
    const ended = endOf(account, user)
    if (ended) return ended
    kept_out = user.own_word === 'refused' || isKeptOut(account)
    // One who has signed in before that was asked: from now on another uid is another account.
    uid ??= account.uid
    isAdmin = claims && !kept_out && belongs(account, services.config)
  }
  if (isAdmin !== user.is_admin || kept_out !== user.kept_out || uid !== user.uid) {
    const entry = auditStatement(services, { user, address }, 'rights_changed', {
      target: user.username,
      details: { is_admin: isAdmin, confirmed: account !== 'unconfirmed' && account !== 'unasked' },
    })
    await changeRights(services.db, { id: user.id, is_admin: isAdmin, kept_out, uid }, entry)
  }
  return isAdmin
}

function endOf(account: Account, { username, uid, shadow_counts }: HostAccount): Ended | undefined {
  if (account.name !== username) return 'name'
  if (uid !== null && account.uid !== uid) return 'replaced'
  if (!shadow_counts) return undefined
  if (account.overdue === 'expired') return 'expired'
  return account.localPassword === false ? 'locked' : undefined
}

/** `unconfirmed` when nobody could be asked; `unasked` where there is nobody to ask, and the console says that this will do. */
async function inspect(
  { host, config, log }: Services,
  username: string,
  options?: Parameters<Services['host']['inspect']>[1],
): Promise<Account | 'gone' | 'unconfirmed' | 'unasked'> {
  try {
    return await host.inspect(username, options)
  } catch (error) {
    if (error instanceof Failure && error.code === 'ssh_incomplete' && config.unconfirmedAdministrators)
      return 'unasked'
    if (!(error instanceof SshError || error instanceof Failure)) throw error
    log.warn(
      { username, err: error },
      'the service account cannot be asked: nobody is an administrator until it can (settings: « ops-panel settings set »)',
    )
    return 'unconfirmed'
  }
}

function belongs(
  { uid, groups, sudo }: Pick<Identity, 'uid' | 'groups'> & Pick<Account, 'sudo'>,
  { adminGroups, sudoGroups }: Services['config'],
): boolean {
  return (
    uid === 0 ||
    groups.some((group) => adminGroups.includes(group)) ||
    (sudo === true && groups.some((group) => sudoGroups.includes(group)))
  )
}

/** May sign in, and do nothing that changes anything. */
function isKeptOut(account: Account): boolean {
  return refusesCommands(account) || account.overdue !== undefined
}

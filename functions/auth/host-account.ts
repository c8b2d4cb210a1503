import { type AccountFacts, changeRights, type HostAccount } from '../../db/users.ts'
import { Failure } from '../../runtime/errors.ts'
import { type Account, type Claim, type Identity, isAccountName, refusesCommands, SshError } from '../../ssh/ssh.ts'
import { auditStatement, type Services } from '../services.ts'

/**
 * Longest account lookup during a refresh: the browser waits for its token meanwhile. A user whom the host does not
 * confirm in this time is not an administrator until the next refresh.
 */
const REFRESH_MS = 5_000

/** The user that a sign-in resolved to, with the user's rights. */
export interface Entrant {
  username: string
  isAdmin: boolean
  learnt: AccountFacts
}

/**
 * Asks the host, through the service account, about the account that has just signed in. Returns the account's name as
 * the host knows it and whether the account is an administrator; undefined when the host has no such account. The
 * identity claim from the account's own login only ever removes rights: its owner can forge it, because sshd runs
 * commands through the login shell, which reads start-up files of the user. A user whom the service account cannot
 * confirm is not an administrator; see `docs/decisions/0022`.
 */
export async function resolveSignIn(
  services: Services,
  typed: string,
  { identity, runs }: Claim,
): Promise<Entrant | undefined> {
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

/** Why the sessions of an account ended. */
export type Ended = 'gone' | 'name' | 'replaced' | 'locked' | 'expired'

/**
 * Asks the host again about the user of an open session and stores changed rights. Returns whether the user is an
 * administrator, or the reason why the session must end.
 */
export async function recheckRights(services: Services, user: HostAccount, address: string): Promise<boolean | Ended> {
  if (!isAccountName(user.username)) return 'name'
  const account = await inspect(services, user.username, { withinMs: REFRESH_MS, shared: true })
  return rightsBy(account, services, user, address)
}

/**
 * Does the same for a user who is not there. Returns undefined, and changes nothing, where the host does not tell: no
 * session hangs on it, so it can be asked again.
 */
export async function recheckAbsent(
  services: Services,
  user: HostAccount,
  address: string,
): Promise<boolean | Ended | undefined> {
  if (!isAccountName(user.username)) return 'name'
  const account = await inspect(services, user.username)
  return account === 'unconfirmed' ? undefined : rightsBy(account, services, user, address)
}

async function rightsBy(
  account: Awaited<ReturnType<typeof inspect>>,
  services: Services,
  user: HostAccount,
  address: string,
): Promise<boolean | Ended> {
  if (account === 'gone') return account
  const claims = user.own_word === 'administrator'
  let { kept_out, uid } = user
  let isAdmin = claims && account === 'unasked' && user.is_admin
  if (account !== 'unconfirmed' && account !== 'unasked') {
    const ended = endOf(account, user)
    if (ended) return ended
    kept_out = user.own_word === 'refused' || isKeptOut(account)
    // The user signed in before the service stored uids. From now on a different uid means a different account.
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

/**
 * Returns `unconfirmed` when the service account cannot be asked, and `unasked` when none is configured and the
 * configuration accepts unconfirmed administrators.
 */
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

/** Whether the account may sign in but must not change anything. */
function isKeptOut(account: Account): boolean {
  return refusesCommands(account) || account.overdue !== undefined
}

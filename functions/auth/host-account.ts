import { onlyIf } from '../../db/audit.ts'
import {
  type AccountFacts,
  changeRights,
  confirmRights,
  findHostAccount,
  type HostAccount,
  isOtherSpelling,
} from '../../db/users.ts'
import { timestamp } from '../../platform/clock.ts'
import type { User } from '../../runtime/context.ts'
import { Failure } from '../../runtime/errors.ts'
import { type Account, type Claim, type Identity, isAccountName, refusesCommands, SshError } from '../../ssh/ssh.ts'
import { auditStatement, type Services } from '../services.ts'

/**
 * Longest account lookup during a refresh: the browser waits for its token meanwhile. A user whom the host does not
 * confirm in this time is not an administrator until the next refresh.
 */
const REFRESH_MS = 5_000

/** The rights of an account. An administrator works on all targets, a viewer on none. */
export type Rights = Pick<User, 'role' | 'operates'>

/** `uninvited`: the account is in none of the groups that may sign in. `unconfirmed`: the host does not tell its groups. */
export type NoRights = 'uninvited' | 'unconfirmed'

/** The user that a sign-in resolved to. `rights` says why an account may not sign in here. */
export interface Entrant {
  username: string
  rights: Rights | NoRights
  learnt: AccountFacts
}

/**
 * Asks the host, through the service account, about the account that has just signed in. Returns the account's name as
 * the host knows it and what the account may do here; undefined when the host has no such account. The
 * identity claim from the account's own login only ever removes rights: its owner can forge it, because sshd runs
 * commands through the login shell, which reads start-up files of the user. A user whom the service account cannot
 * confirm is not an administrator; see `docs/decisions/0022`.
 */
export async function resolveSignIn(
  services: Services,
  typed: string,
  { identity, runs }: Claim,
): Promise<Entrant | undefined> {
  const { config } = services
  const account = await inspect(services, typed)
  if (account === 'gone') return undefined
  const claims = identity !== null && belongs({ ...identity, sudo: true }, config)
  const own_word = identity === null ? (runs ? 'silent' : 'refused') : claims ? 'administrator' : 'user'
  if (account === 'unconfirmed' || account === 'unasked') {
    // Only the account itself says here which groups it is in.
    const groups = identity?.groups ?? []
    const known = account === 'unasked' ? rightsOf({ isAdmin: claims, groups }, config) : withoutGroups(config)
    // Second factors and the bar belong to one spelling of a name. Nobody tells here which one the host means.
    const isSpelling = await isOtherSpelling(services.db, typed, identity?.name)
    const rights = isSpelling ? 'unconfirmed' : known
    return { username: typed, rights, learnt: { ...stored(rights), own_word, kept_out: own_word === 'refused' } }
  }
  if (!isAccountName(account.name)) return undefined
  const kept_out = own_word === 'refused' || isKeptOut(account)
  const shadow_counts = account.localPassword !== false && account.overdue !== 'expired'
  const rights = rightsOf({ isAdmin: claims && !kept_out && belongs(account, config), groups: account.groups }, config)
  return {
    username: account.name,
    rights,
    learnt: { ...stored(rights), own_word, kept_out, uid: account.uid, shadow_counts },
  }
}

/**
 * Asks the host about the account that a provider of identities has named. The account itself has said nothing, so the
 * host alone decides, and it must answer. `unusable`: there is no such account, it has expired, or it is root, which
 * nobody else may name.
 */
export async function resolveNamed(
  services: AccountServices,
  name: string,
): Promise<Entrant | 'unusable' | 'unconfirmed'> {
  if (!isAccountName(name)) return 'unusable'
  const account = await inspect(services, name)
  if (account === 'unconfirmed' || account === 'unasked') return 'unconfirmed'
  if (account === 'gone' || !isAccountName(account.name) || account.overdue === 'expired' || account.uid === 0)
    return 'unusable'
  const isAdmin = belongs(account, services.config)
  const kept_out = isKeptOut(account)
  const rights = rightsOf({ isAdmin: isAdmin && !kept_out, groups: account.groups }, services.config)
  const own_word = isAdmin ? 'administrator' : 'user'
  // An account without a password is no locked one: its people never had any.
  const shadow_counts = account.localPassword !== false
  return {
    username: account.name,
    rights,
    learnt: { ...stored(rights), own_word, kept_out, uid: account.uid, shadow_counts },
  }
}

/** The services that ask the host about an account and end its sessions. */
export type AccountServices = Pick<Services, 'db' | 'host' | 'config' | 'clock' | 'log' | 'sessions'>

/** Why the sessions of an account ended. */
export type Ended = 'gone' | 'name' | 'replaced' | 'locked' | 'expired' | 'barred' | 'uninvited'

/**
 * Asks the host again about the user of an open session and stores changed rights. Returns what the user may
 * do, or the reason why the session must end.
 */
export async function recheckRights(
  services: AccountServices,
  user: HostAccount,
  address: string,
): Promise<Rights | Ended> {
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
): Promise<Rights | Ended | undefined> {
  if (!isAccountName(user.username)) return 'name'
  const account = await inspect(services, user.username)
  return account === 'unconfirmed' ? undefined : rightsBy(account, services, user, address)
}

/**
 * Ends all sessions of an account for which `recheckRights` or `recheckAbsent` gave a reason, closes the sockets of its API
 * tokens, and writes the audit entry. `tokensToo` writes it for an account without a session, too.
 */
export async function endAccount(
  services: AccountServices,
  user: Pick<HostAccount, 'id' | 'username'>,
  reason: Ended,
  { address, tokensToo = false }: { address: string; tokensToo?: boolean },
): Promise<void> {
  const note = { target: user.username, details: { reason } }
  const entry = auditStatement(services, { user, address }, 'account_ended', note)
  await services.sessions.end({ userId: user.id }, (count) => (tokensToo ? entry : onlyIf(entry, count)))
  await services.sessions.endTokens({ userId: user.id })
}

/**
 * Asks the host again about the user for whom an access token is to be signed. For an account that may not be here any
 * more, ends all its sessions and returns the error code.
 */
export async function rightsForToken(
  services: Services,
  userId: number,
  address: string,
): Promise<{ username: string; rights: Rights } | 'user_missing' | 'session_ended'> {
  const user = await findHostAccount(services.db, userId)
  if (!user) return 'user_missing'
  const rights = await recheckRights(services, user, address)
  if (typeof rights !== 'string') return { username: user.username, rights }
  await endAccount(services, user, rights, { address })
  return rights === 'gone' ? 'user_missing' : 'session_ended'
}

async function rightsBy(
  account: Awaited<ReturnType<typeof inspect>>,
  services: AccountServices,
  user: HostAccount,
  address: string,
): Promise<Rights | Ended> {
  if (user.barred_at !== null) return 'barred'
  const refused = async (why: Ended): Promise<Ended> => {
    await confirmRights(services.db, user.id, null)
    return why
  }
  if (account === 'gone') return refused(account)
  const claims = user.own_word === 'administrator'
  let { kept_out, uid, rights_at } = user
  let rights: Rights | 'uninvited'
  if (account === 'unconfirmed' || account === 'unasked') {
    const known = account === 'unasked' ? rightsFrom(user, claims) : withoutGroups(services.config)
    // The account was invited when it signed in. Until the host tells whether it still is, it may read.
    rights = known === 'unconfirmed' ? VIEWER : known
  } else {
    const ended = endOf(account, user)
    if (ended) return refused(ended)
    kept_out = user.own_word === 'refused' || isKeptOut(account)
    // The user signed in before the service stored uids. From now on a different uid means a different account.
    uid ??= account.uid
    const isAdmin = claims && !kept_out && belongs(account, services.config)
    rights = rightsOf({ isAdmin, groups: account.groups }, services.config)
  }
  if (rights === 'uninvited') return refused(rights)
  if (account !== 'unconfirmed') rights_at = timestamp(services.clock())
  const { is_admin, operates } = stored(rights)
  const former = rightsFrom(user)
  const isSame = is_admin === user.is_admin && JSON.stringify(operates) === JSON.stringify(user.operates)
  if (!isSame || kept_out !== user.kept_out || uid !== user.uid) {
    const entry = auditStatement(services, { user, address }, 'rights_changed', {
      target: user.username,
      details: {
        is_admin,
        role: rights.role,
        role_before: former.role,
        ...(rights.operates !== 'all' && { targets: rights.operates.join(',') }),
        ...(former.operates !== 'all' && { targets_before: former.operates.join(',') }),
        confirmed: account !== 'unconfirmed' && account !== 'unasked',
      },
    })
    await changeRights(services.db, { id: user.id, is_admin, operates, kept_out, uid, rights_at }, entry)
  } else if (rights_at !== user.rights_at) await confirmRights(services.db, user.id, rights_at)
  return rights
}

function endOf(account: Account, { username, uid, shadow_counts, kept_out }: HostAccount): Ended | undefined {
  if (account.name !== username) return 'name'
  if (uid !== null && account.uid !== uid) return 'replaced'
  // Where shadow(5) does not count, an expired account that signed in all the same was kept out from then on. One without a
  // shell is kept out before it expires, too.
  if (account.overdue === 'expired' && (shadow_counts || !kept_out || refusesCommands(account))) return 'expired'
  return shadow_counts && account.localPassword === false ? 'locked' : undefined
}

/**
 * Returns `unconfirmed` when the service account cannot be asked, and `unasked` when none is configured and the
 * configuration accepts unconfirmed administrators.
 */
async function inspect(
  { host, config, log }: AccountServices,
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

const ADMINISTRATOR: Rights = { role: 'admin', operates: 'all' }
const EVERYBODY: Rights = { role: 'operator', operates: 'all' }
const VIEWER: Rights = { role: 'viewer', operates: [] }

function rightsOf(
  { isAdmin, groups }: { isAdmin: boolean; groups: readonly string[] },
  { signInGroups, operatorGroups, viewerGroups }: Services['config'],
): Rights | 'uninvited' {
  const isIn = (names: readonly string[] | undefined) => names?.some((name) => groups.includes(name)) ?? false
  if (signInGroups && !isIn(signInGroups)) return 'uninvited'
  if (isAdmin) return ADMINISTRATOR
  if (!operatorGroups && !viewerGroups) return EVERYBODY
  const targets = [...(operatorGroups ?? [])].flatMap(([name, each]) => (groups.includes(name) ? [each] : []))
  if (targets.includes('all')) return EVERYBODY
  if (targets.length > 0) return { role: 'operator', operates: [...new Set(targets.flat())].sort() }
  return isIn(viewerGroups) ? VIEWER : 'uninvited'
}

/** The rights of an account whose groups nobody tells: those of everybody, and none where groups decide. */
function withoutGroups({ signInGroups, operatorGroups, viewerGroups }: Services['config']): Rights | 'unconfirmed' {
  return signInGroups || operatorGroups || viewerGroups ? 'unconfirmed' : EVERYBODY
}

/** The rights that are stored of an account; never those of an administrator where the account itself claims none. */
export function rightsFrom({ is_admin, operates }: Pick<HostAccount, 'is_admin' | 'operates'>, claims = true): Rights {
  if (is_admin && claims) return ADMINISTRATOR
  return operates === null ? VIEWER : { role: 'operator', operates }
}

function stored(rights: Rights | NoRights): Pick<HostAccount, 'is_admin' | 'operates'> {
  if (typeof rights === 'string' || rights.role === 'viewer') return { is_admin: false, operates: null }
  const { role, operates } = rights
  return { is_admin: role === 'admin', operates: operates === 'all' ? operates : [...operates] }
}

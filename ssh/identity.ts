import { randomBytes } from 'node:crypto'
import { collect } from './channel.ts'
import { type Command, script } from './command.ts'
import { type SshConnection, SshError } from './connection.ts'
import { IDENTIFY, INSPECT } from './identity-script.ts'

/** An account on the host. The groups are exact names, which may contain spaces. */
export interface Identity {
  /** The name as the host writes it, which may differ from the name that was typed. */
  name: string
  uid: number
  groups: string[]
}

/** The answer from an account’s own connection. The account can forge all of it, so it must not grant a right. */
export interface Claim {
  identity: Identity | null
  /** False when the host accepted the login but ran no command: the shell is nologin, for example. */
  runs: boolean
}

/** An account as the service account sees it. A field that needs root’s rights is undefined without them. */
export interface Account extends Identity {
  shell: string
  /** Whether sudo lets the account become root; determined for members of `wheel` only. */
  sudo: boolean | undefined
  /** Whether a password exists that the host itself can check. LDAP or Kerberos may know another one. */
  localPassword: boolean | undefined
  /** The state of the account or its password according to their dates. */
  overdue: 'expired' | 'password' | undefined
}

/** The account’s login shell may start slowly, but a person is waiting. */
export const IDENTIFY_MS = 10_000

/**
 * Asks the account of a connection for its identity. If the start-up files do not end or the connection is lost, the
 * claim is empty.
 */
export async function askIdentity(connection: SshConnection): Promise<Claim> {
  const mark = newMark()
  try {
    const channel = await connection.open(script(IDENTIFY, 'ops-panel-identify', mark))
    channel.end()
    const { stdout } = await collect(channel, IDENTIFY_MS)
    const identity = parseIdentity(stdout, mark)
    return { identity, runs: identity !== null }
  } catch (error) {
    if (error instanceof SshError) return { identity: null, runs: error.reason !== 'refused' }
    throw error
  }
}

/** Returns an unpredictable mark, so that no text written beforehand can contain it. */
export function newMark(): string {
  return `ops-panel-${randomBytes(16).toString('hex')}`
}

export function inspection(mark: string, username: string): Command {
  return script(INSPECT, 'ops-panel-inspect', mark, username)
}

export function parseIdentity(stdout: string, mark: string): Identity | null {
  const [name = '', uid = '', ...groups] = between(stdout, mark) ?? []
  return name !== '' && isUid(uid) ? { name, uid: Number(uid), groups } : null
}

/** Parses the account, or `gone` when the host does not know the name; throws an SshError for an invalid answer. */
export function parseAccount(stdout: string, mark: string): Account | 'gone' {
  const fields = between(stdout, mark)
  if (fields?.length === 1 && fields[0] === 'gone') return 'gone'
  const [name = '', uid = '', shell = '', password, ages = '', now = '', sudo, ...groups] = fields ?? []
  if (name === '' || !isUid(uid)) throw new SshError('lost', 'l’hôte n’a pas indiqué qui est ce compte')
  return {
    name,
    uid: Number(uid),
    groups,
    shell,
    sudo: sudo === 'yes' ? true : sudo === 'no' ? false : undefined,
    localPassword: password === 'usable' ? true : password === 'unusable' ? false : undefined,
    overdue: overdue(ages.split(':').map(days), Math.floor(Number(now) / 86_400)),
  }
}

/** Returns the fields between the two marks; undefined when the answer is incomplete. */
function between(stdout: string, mark: string): string[] | undefined {
  const begin = stdout.indexOf(`${mark}\0`)
  const end = `\0${mark}\0`
  if (begin < 0 || !stdout.endsWith(end) || stdout.length - end.length < begin + mark.length) return undefined
  return stdout.slice(begin + mark.length + 1, -end.length).split('\0')
}

function isUid(text: string): boolean {
  return /^\d{1,10}$/.test(text)
}

/** A number of days in a shadow entry; empty or -1 means none. */
function days(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** Follows pam_unix (`shadow(5)`): `password` must be changed first, `expired` blocks the login. */
function overdue([changed, , max, , inactive, expires]: (number | undefined)[], today: number): Account['overdue'] {
  if (expires !== undefined && today >= expires) return 'expired'
  if (changed === 0) return 'password'
  if (changed === undefined || max === undefined || today - changed <= max) return undefined
  return inactive !== undefined && today - changed > max + inactive ? 'expired' : 'password'
}

/** Matches shells whose only purpose is to refuse. */
export function refusesCommands({ shell }: Account): boolean {
  return /(^|\/)(nologin|false)$/.test(shell)
}

/**
 * 1 to 256 characters, none of them special to sshd (`name:style`, `name/role`), to a terminal or to a list. A number is no
 * name: `id` and `getent` take it for a uid, also with leading zeros or a plus, and would tell of another account.
 */
export function isAccountName(name: string): boolean {
  return /^(?!\+?\d+$)[^:/\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]{1,256}$/u.test(name)
}

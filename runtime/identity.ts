import { randomBytes } from 'node:crypto'
import { collect } from './channel.ts'
import { type Command, script } from './command.ts'
import { IDENTIFY, INSPECT } from './identity-script.ts'
import { type SshConnection, SshError } from './ssh-connection.ts'

/** Who an account is on the host. The groups are exact names: one may well have spaces in it. */
export interface Identity {
  /** As the host writes it, which may differ from what was typed. */
  name: string
  uid: number
  groups: string[]
}

/** What an account's own connection says. The account can forge all of it: nothing here may give a right. */
export interface Claim {
  identity: Identity | null
  /** False when the host let the account in and ran no command for it: its shell is nologin, say. */
  runs: boolean
}

/** An account as the service account sees it. What needs root's rights to be seen is undefined without them. */
export interface Account extends Identity {
  shell: string
  /** Whether sudo makes it root; asked for members of `wheel` alone. */
  sudo: boolean | undefined
  /** Whether there is a password that the host itself can check; other programs (LDAP, Kerberos) may know another one. */
  localPassword: boolean | undefined
  /** What became of the account or of its password by their dates. */
  overdue: 'expired' | 'password' | undefined
}

/** The login's own shell may start slowly, but a person is waiting. */
export const IDENTIFY_MS = 10_000

/**
 * Asks the account of a connection who it is. One whose start-up files never come to an end, or that is lost meanwhile, has
 * said nothing.
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

/** Nobody can have written it into an answer before it was asked for. */
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

/** The account, or `gone` when the host knows none of that name; throws an SshError when the answer is none. */
export function parseAccount(stdout: string, mark: string): Account | 'gone' {
  const fields = between(stdout, mark)
  if (fields?.length === 1 && fields[0] === 'gone') return 'gone'
  const [name = '', uid = '', shell = '', password, ages = '', now = '', sudo, ...groups] = fields ?? []
  if (name === '' || !isUid(uid)) throw new SshError('lost', 'l’hôte n’a pas dit qui est ce compte')
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

/** What stands between the two marks; undefined when the answer is not whole. */
function between(stdout: string, mark: string): string[] | undefined {
  const begin = stdout.indexOf(`${mark}\0`)
  const end = `\0${mark}\0`
  if (begin < 0 || !stdout.endsWith(end) || stdout.length - end.length < begin + mark.length) return undefined
  return stdout.slice(begin + mark.length + 1, -end.length).split('\0')
}

function isUid(text: string): boolean {
  return /^\d{1,10}$/.test(text)
}

/** A number of days in a shadow entry: empty, or -1, for none. */
function days(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** As pam_unix decides (`shadow(5)`): `password` is one that must be changed first, `expired` lets nobody in. */
function overdue([changed, , max, , inactive, expires]: (number | undefined)[], today: number): Account['overdue'] {
  if (expires !== undefined && today >= expires) return 'expired'
  if (changed === 0) return 'password'
  if (changed === undefined || max === undefined || today - changed <= max) return undefined
  return inactive !== undefined && today - changed > max + inactive ? 'expired' : 'password'
}

/** A shell whose one purpose is to refuse. */
export function refusesCommands({ shell }: Account): boolean {
  return /(^|\/)(nologin|false)$/.test(shell)
}

/** 1 to 256 characters, of which none means something to sshd (`name:style`, `name/role`), to a terminal or to a list. */
export function isAccountName(name: string): boolean {
  return /^[^:/\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]{1,256}$/u.test(name)
}

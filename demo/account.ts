import { randomBytes } from 'node:crypto'

/** A question of PAM; with `together` in one round with the question before it. */
export interface Question {
  prompt: string
  echo?: boolean
  together?: boolean
  answer: string
}

/** An account of the imitated host with its rights and start-up files. */
export interface Account {
  password: string
  uid: number
  /** Group names, the primary group first. */
  groups: readonly string[]
  /** `password` and `nopasswd` allow every command, `rule` only apt-get and pct without a password, `none` nothing. */
  sudo?: 'password' | 'nopasswd' | 'rule' | 'none'
  /** With `nologin` the login succeeds, and every command ends with code 1. */
  shell?: 'sh' | 'nologin'
  /** Public keys that let the account in, in the form of `authorized_keys`; undefined where keys are refused. */
  authorizedKeys?: string
  /** The file with them belongs to somebody else. */
  keysAreForeign?: boolean
  /** sshd reads another file, which has no keys. */
  keysAreElsewhere?: boolean
  /** Questions that follow the password, with their answers; the account signs in by keyboard-interactive alone. */
  asks?: readonly Question[]
  /** The host accepts the password and then ends the connection. */
  expired?: boolean
}

/** An account with its name. */
export interface User extends Account {
  name: string
}

/** The account of programs that sudo or pct run. */
export const ROOT: User = { name: 'root', password: '', uid: 0, groups: ['root'], shell: 'sh' }

/** The service account, with a new password at each start. */
export const SERVICE = 'panel'

/** The accounts of the demo by which each role can be seen: their groups get roles from the settings of the caller. */
export const PEOPLE: Readonly<Record<string, Account>> = {
  operator: { password: 'operator', uid: 1002, groups: ['operator', 'operators'] },
  web: { password: 'web', uid: 1003, groups: ['web'] },
  viewer: { password: 'viewer', uid: 1004, groups: ['viewer', 'viewers'] },
}

/** The accounts of a new host; `more` adds to them or replaces them. */
export function accounts(more: Readonly<Record<string, Account>>): Map<string, User> {
  const all: Record<string, Account> = {
    demo: { password: 'demo', uid: 1000, groups: ['demo', 'sudo'], sudo: 'password' },
    guest: { password: 'guest', uid: 1001, groups: ['guest'] },
    [SERVICE]: { password: randomBytes(18).toString('base64url'), uid: 0, groups: ['root'] },
    ...more,
  }
  return new Map(Object.entries(all).map(([name, account]) => [name, { ...account, name }]))
}

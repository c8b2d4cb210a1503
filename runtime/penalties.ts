import { isIP } from 'node:net'
import type { Output } from './channel.ts'
import { type Command, script } from './command.ts'
import type { Rights } from './elevation.ts'
import { blockList, isNetwork } from './networks.ts'
import { SshError } from './ssh-connection.ts'

/**
 * What the host's sshd does with an address from which wrong passwords come, OpenSSH's `PerSourcePenalties`: each one counts
 * `authfail` seconds, which pass; above `min` of them the address is refused until they have passed. `unknown` is an sshd
 * that has penalties by default, whose settings the service account may not read.
 */
export type Penalties = { version: string; address: string } & (
  | { state: 'off' | 'exempt' | 'unknown' }
  | { state: 'in_force'; authfail: number; min: number; exempt: string }
)

/** What sshd has in force, which root alone may read: two lines of it. */
const SETTINGS = `
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
sshd -T 2>/dev/null | grep -i '^persourcepenalt'
`
/** A person may be waiting; sshd needs some milliseconds. */
const READ_MS = 10_000

/** OpenSSH's version, of a server's identification, if it has penalties: since 9.8, in force unless they are turned off. */
export function penalisingVersion(identification: string): string | undefined {
  const [, version, major = '', minor = ''] = /^SSH-2\.0-OpenSSH_((\d+)\.(\d+)\w*)/.exec(identification) ?? []
  return Number(major) > 9 || (Number(major) === 9 && Number(minor) >= 8) ? version : undefined
}

/** Asks the host, as the service account. */
export async function readPenalties(
  version: string,
  exec: (command: Command, options: { rights?: Rights; timeoutMs: number }) => Promise<Output>,
): Promise<Penalties> {
  const ask = async (command: Command, rights: Rights): Promise<string> => {
    try {
      return (await exec(command, { rights, timeoutMs: READ_MS })).stdout
    } catch (error) {
      if (error instanceof SshError) return ''
      throw error
    }
  }
  // From where the service comes, as the host sees it: there may be a network between the two that changes addresses.
  const [address = ''] = (await ask(['printenv', 'SSH_CONNECTION'], 'none')).trim().split(' ')
  const settings = await ask(script(SETTINGS, 'ops-panel-penalties'), 'script')
  return { version, address, ...parsePenalties(settings, address) }
}

type Parsed = Penalties extends infer each
  ? each extends Penalties
    ? Omit<each, 'version' | 'address'>
    : never
  : never

export function parsePenalties(settings: string, address: string): Parsed {
  const value = (name: string) => new RegExp(`^${name} (.+)$`, 'im').exec(settings)?.[1]?.trim()
  const penalties = value('persourcepenalties')
  const seconds = (name: string) => Number(new RegExp(`\\b${name}:([\\d.]+)`).exec(penalties ?? '')?.[1] ?? Number.NaN)
  const [authfail, min] = [seconds('authfail'), seconds('min')]
  if (penalties === 'no' || authfail === 0) return { state: 'off' }
  if (Number.isNaN(authfail) || Number.isNaN(min)) return { state: 'unknown' }
  const list = value('persourcepenaltyexemptlist') ?? 'none'
  if (isExempt(list, address)) return { state: 'exempt' }
  return { state: 'in_force', authfail, min, exempt: list === 'none' ? '' : list }
}

/** Whether an address is in a list of sshd's: addresses, networks and patterns with `*` and `?`; one after `!` takes it out. */
export function isExempt(list: string, address: string): boolean {
  if (isIP(address) === 0) return false
  let found = false
  for (const item of list.split(',').map((text) => text.trim())) {
    const pattern = item.replace(/^!/, '')
    if (!covers(pattern, address)) continue
    if (pattern !== item) return false
    found = true
  }
  return found
}

function covers(pattern: string, address: string): boolean {
  if (isNetwork(pattern)) return blockList([pattern]).check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  const text = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${text}$`, 'i').test(address)
}

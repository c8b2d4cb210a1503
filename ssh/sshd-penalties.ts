import { isIP } from 'node:net'
import { blockList, isNetwork } from '../platform/addresses.ts'
import type { Output } from './channel.ts'
import { type Command, type Rights, script } from './command.ts'
import { SshError } from './connection.ts'

/**
 * OpenSSH’s `PerSourcePenalties`, as they apply to the service’s address. Each wrong password adds `authfail`
 * seconds, and each connection that ends without a judged one `noauth`. They elapse; above `min` seconds the address is
 * refused until they have elapsed. `unknown` is an sshd
 * that has penalties by default and whose settings the service account may not read.
 */
export type SshdPenalties = { version: string; address: string } & (
  | { state: 'off' | 'exempt' | 'unknown' }
  | { state: 'in_force'; authfail: number; noauth: number; min: number; exempt: string }
)

/** Writes the two relevant lines of sshd’s effective configuration, which only root may read. */
const SETTINGS = `
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
sshd -T 2>/dev/null | grep -i '^persourcepenalt'
`
/** A person may be waiting; sshd needs some milliseconds. */
const READ_MS = 10_000

/** Returns the OpenSSH version of an identification if that version has penalties: since 9.8, active by default. */
export function versionWithPenalties(identification: string): string | undefined {
  const [, version, major = '', minor = ''] = /^SSH-2\.0-OpenSSH_((\d+)\.(\d+)\w*)/.exec(identification) ?? []
  return Number(major) > 9 || (Number(major) === 9 && Number(minor) >= 8) ? version : undefined
}

/** Asks the host, as the service account. */
export async function readSshdPenalties(
  version: string,
  exec: (command: Command, options: { rights?: Rights; timeoutMs: number }) => Promise<Output>,
): Promise<SshdPenalties> {
  const ask = async (command: Command, rights: Rights): Promise<string> => {
    try {
      return (await exec(command, { rights, timeoutMs: READ_MS })).stdout
    } catch (error) {
      if (error instanceof SshError) return ''
      throw error
    }
  }
  // The address of the service as the host sees it: a network between the two may translate addresses.
  const [address = ''] = (await ask(['printenv', 'SSH_CONNECTION'], 'none')).trim().split(' ')
  const settings = await ask(script(SETTINGS, 'ops-panel-penalties'), 'script')
  return { version, address, ...parseSshdPenalties(settings, address) }
}

type Parsed = SshdPenalties extends infer each
  ? each extends SshdPenalties
    ? Omit<each, 'version' | 'address'>
    : never
  : never

export function parseSshdPenalties(settings: string, address: string): Parsed {
  const value = (name: string) => new RegExp(`^${name} (.+)$`, 'im').exec(settings)?.[1]?.trim()
  const penalties = value('persourcepenalties')
  const seconds = (name: string) => Number(new RegExp(`\\b${name}:([\\d.]+)`).exec(penalties ?? '')?.[1] ?? Number.NaN)
  const [authfail, noauth, min] = [seconds('authfail'), seconds('noauth'), seconds('min')]
  if (penalties === 'no' || authfail === 0) return { state: 'off' }
  if ([authfail, noauth, min].some(Number.isNaN)) return { state: 'unknown' }
  const list = value('persourcepenaltyexemptlist') ?? 'none'
  if (isExempt(list, address)) return { state: 'exempt' }
  return { state: 'in_force', authfail, noauth, min, exempt: list === 'none' ? '' : list }
}

/** Says whether an address is in a list of sshd: addresses, networks, and patterns with `*` and `?`; `!` excludes. */
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

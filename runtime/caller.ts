import { isIP } from 'node:net'
import type { Config } from './config.ts'
import type { Caller } from './context.ts'

/**
 * Who asks. `X-Forwarded-For` counts only from a trusted proxy, and only as far as the chain is trusted: the last
 * address in it that is not a proxy's. `X-Forwarded-Proto` counts whoever sends it (it can only make a cookie stricter).
 */
export function readCaller(
  config: Pick<Config, 'isTrustedProxy'>,
  peer: { address: string; encrypted: boolean },
  header: (name: string) => string | undefined,
): Caller {
  const forwarded = header('x-forwarded-for')
  const address = plain(peer.address)
  return {
    address: forwarded === undefined ? address : behindProxies(config, address, forwarded),
    userAgent: header('user-agent') ?? '',
    secure: peer.encrypted || header('x-forwarded-proto') === 'https',
  }
}

function behindProxies({ isTrustedProxy }: Pick<Config, 'isTrustedProxy'>, peer: string, forwarded: string): string {
  const chain = forwarded
    .split(',')
    .map((item) => plain(item.trim()))
    .reverse()
  let client = peer
  for (const address of chain) {
    if (!isTrustedProxy(client) || isIP(address) === 0) break
    client = address
  }
  return client
}

/**
 * Whom a limit by address counts: an IPv4 address, or the /64 network of an IPv6 one, all of whose addresses are at one
 * client's disposal.
 */
export function limitKey(address: string): string {
  if (isIP(address) !== 6) return address
  const [head = '', tail] = address.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  const after = (tail ?? '').split(':').filter((group) => group !== '')
  const gap = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length)
  const whole = [...groups, ...Array.from({ length: gap }, () => '0'), ...after]
  return `${whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** An IPv4 address without the form that IPv6 sockets give it. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
}

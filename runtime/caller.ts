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

/** An IPv4 address without the form that IPv6 sockets give it. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
}

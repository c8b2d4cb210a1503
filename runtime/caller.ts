import { isIP } from 'node:net'
import { ipv6Groups, noteProxy } from '../platform/addresses.ts'
import type { Config } from '../platform/config.ts'
import type { Caller } from './context.ts'

/**
 * Reads the caller of a request. `X-Forwarded-For` counts only from a trusted proxy and only as far as the chain is
 * trusted: the client is the last address in it that is not a trusted proxy. `X-Forwarded-Host` counts only from a
 * trusted proxy as well. `X-Forwarded-Proto` counts from any peer: it can only make a cookie stricter, and no page can
 * set it.
 */
export function readCaller(
  config: Pick<Config, 'isTrustedProxy' | 'origins'>,
  peer: { address: string; encrypted: boolean },
  header: (name: string) => string | undefined,
): Caller {
  const forwarded = header('x-forwarded-for')
  const address = plainAddress(peer.address)
  if (forwarded !== undefined && config.isTrustedProxy(address)) noteProxy(config, address)
  const secure = peer.encrypted || first(header('x-forwarded-proto'))?.toLowerCase() === 'https'
  const origin = header('origin')
  return {
    address: forwarded === undefined ? address : behindProxies(config, address, forwarded),
    userAgent: header('user-agent') ?? '',
    secure,
    host: header('host'),
    foreign: origin === undefined ? undefined : foreign(origin, { config, address, header, secure }),
    embedded: origin === undefined && isEmbedded(header),
  }
}

/**
 * Whether a page of another site embeds this resource, according to the `Sec-Fetch-*` headers that browsers send over
 * secure connections. Following a link does not count.
 */
function isEmbedded(header: (name: string) => string | undefined): boolean {
  const site = header('sec-fetch-site') ?? 'none'
  const goesThere = header('sec-fetch-mode') === 'navigate' && header('sec-fetch-dest') === 'document'
  return site !== 'none' && site !== 'same-origin' && !goesThere
}

/**
 * Returns an Origin (only browsers send one) that is neither configured nor the service's own as the client's browser
 * sees it.
 */
function foreign(
  origin: string,
  {
    config: { isTrustedProxy, origins },
    address,
    header,
    secure,
  }: {
    config: Pick<Config, 'isTrustedProxy' | 'origins'>
    address: string
    header: (name: string) => string | undefined
    secure: boolean
  },
): string | undefined {
  const host = (isTrustedProxy(address) ? first(header('x-forwarded-host')) : undefined) ?? header('host')
  return origins.has(origin) || origin === `${secure ? 'https' : 'http'}://${host}` ? undefined : origin
}

function behindProxies({ isTrustedProxy }: Pick<Config, 'isTrustedProxy'>, peer: string, forwarded: string): string {
  const chain = forwarded
    .split(',')
    .map((item) => plainAddress(withoutPort(item.trim())))
    .reverse()
  let client = peer
  for (const address of chain) {
    if (!isTrustedProxy(client) || isIP(address) === 0) break
    client = address
  }
  return client
}

/**
 * The key of a limit by address: a normalized IPv4 address, or the /64 network of an IPv6 address, because one client
 * controls the whole network.
 */
export function limitKey(address: string): string {
  const known = plainAddress(address)
  if (isIP(known) !== 6) return known
  const network = ipv6Groups(known).slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

/**
 * The key of a request for limits by address. Requests that pages of other origins cause in a visitor's browser have a
 * key of their own, so that they cannot use up the visitor's limit. The headers that decide come from browsers; another
 * client gains nothing by forging them.
 */
export function requestLimitKey(
  { address, foreign: origin, embedded }: Pick<Caller, 'address' | 'foreign' | 'embedded'>,
  method: string,
): string {
  const apart = origin !== undefined || (embedded && method === 'GET')
  return apart ? `${limitKey(address)} by other pages` : limitKey(address)
}

/**
 * The first entry of a list header. Each proxy appends its own, so the first is from the proxy nearest to the client.
 */
function first(list: string | undefined): string | undefined {
  return list?.split(',')[0]?.trim()
}

/** Removes the client's port, which some proxies add: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function withoutPort(address: string): string {
  return (
    /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/
      .exec(address)
      ?.slice(1)
      .find((part) => part !== undefined) ?? address
  )
}

/** Prefixes of IPv6 addresses that embed an IPv4 one: dual-stack sockets (::ffff:0:0/96) and NAT64 (64:ff9b::/96). */
const MAPPED = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'])

/** Reduces an IPv4 address embedded in IPv6 to its plain form; other addresses stay as they are. */
export function plainAddress(address: string): string {
  if (!address.includes(':') || isIP(address) !== 6) return address
  const groups = ipv6Groups(address)
  const [high = 0, low = 0] = groups.slice(6)
  const prefix = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':')
  return MAPPED.has(prefix) ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : address
}

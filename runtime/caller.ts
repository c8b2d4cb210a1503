import { isIP } from 'node:net'
import type { Config } from './config.ts'
import type { Caller } from './context.ts'
import { ipv6Groups } from './networks.ts'

/**
 * Who asks. `X-Forwarded-For` counts only from a trusted proxy, and only as far as the chain is trusted: the last
 * address in it that is not a proxy's; `X-Forwarded-Host` only from one as well. `X-Forwarded-Proto` counts whoever
 * sends it (it can only make a cookie stricter, and no page can set it).
 */
export function readCaller(
  config: Pick<Config, 'isTrustedProxy' | 'origins'>,
  peer: { address: string; encrypted: boolean },
  header: (name: string) => string | undefined,
): Caller {
  const forwarded = header('x-forwarded-for')
  const address = plainAddress(peer.address)
  const secure = peer.encrypted || first(header('x-forwarded-proto'))?.toLowerCase() === 'https'
  const origin = header('origin')
  return {
    address: forwarded === undefined ? address : behindProxies(config, address, forwarded),
    userAgent: header('user-agent') ?? '',
    secure,
    foreign: origin === undefined ? undefined : foreign(origin, { config, address, header, secure }),
    embedded: origin === undefined && isEmbedded(header),
  }
}

/** As browsers say of themselves where the connection is secure. Whoever follows a link goes there, and is meant to. */
function isEmbedded(header: (name: string) => string | undefined): boolean {
  const site = header('sec-fetch-site') ?? 'none'
  const goesThere = header('sec-fetch-mode') === 'navigate' && header('sec-fetch-dest') === 'document'
  return site !== 'none' && site !== 'same-origin' && !goesThere
}

/** An Origin (only browsers send one) that is neither configured nor the service's own, as the client's browser sees it. */
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
 * Whom a limit by address counts: an IPv4 address, however it is written, or the /64 network of an IPv6 one, all of whose
 * addresses are at one client's disposal.
 */
export function limitKey(address: string): string {
  const known = plainAddress(address)
  if (isIP(known) !== 6) return known
  const network = ipv6Groups(known).slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

/**
 * Whom a limit of requests by address counts. What pages of other origins have the browsers there ask for counts apart: it can
 * use up nothing that the person in front of one has a right to. Only browsers say so, of a GET what others could claim to
 * no avail, of the rest an Origin, which nothing of worth is open to.
 */
export function countedAs(
  { address, foreign: origin, embedded }: Pick<Caller, 'address' | 'foreign' | 'embedded'>,
  method: string,
): string {
  const apart = origin !== undefined || (embedded && method === 'GET')
  return apart ? `${limitKey(address)} by other pages` : limitKey(address)
}

/** Of proxies behind each other, each adds its own: what the first one saw. */
function first(list: string | undefined): string | undefined {
  return list?.split(',')[0]?.trim()
}

/** Some proxies name the client's port as well: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function withoutPort(address: string): string {
  return (
    /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/
      .exec(address)
      ?.slice(1)
      .find((part) => part !== undefined) ?? address
  )
}

/** What stands before an IPv4 address in an IPv6 one: of a socket for both (::ffff:0:0/96), and of a translator (64:ff9b::/96). */
const MAPPED = new Set(['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'])

/** An IPv4 address without the forms that IPv6 gives it, in whatever spelling. */
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

import { BlockList, isIP } from 'node:net'

/** Whether it is an address or, as `10.0.0.0/8`, a network. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const width = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1
  return width > 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= width))
}

/** Tells which addresses lie in these networks. */
export function blockList(networks: readonly string[]): BlockList {
  const result = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) result.addAddress(address, family)
    else result.addSubnet(address, Number(bits), family)
  }
  return result
}

/** The eight groups of an IPv6 address, whose end may be written as an IPv4 one; its zone is left out. */
export function ipv6Groups(address: string): number[] {
  const [text = ''] = address.split('%')
  const [head = '', tail] = text.split('::')
  const read = (part: string) =>
    part.split(':').flatMap((group) => {
      if (!group.includes('.')) return group === '' ? [] : [Number.parseInt(group, 16)]
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
      return [a * 256 + b, c * 256 + d]
    })
  const [before, after] = [read(head), read(tail ?? '')]
  return [...before, ...Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => 0), ...after]
}

/** Reads `host`, `host:port`, `[v6]:port` or a bare IPv6 address; undefined when it is none of them. */
export function parseAddress(text: string): { host: string; port: number } | undefined {
  const match =
    /^(?:\[([^\]\s]+)\]|([^:\s[\]]+))(?::(\d{1,5}))?$/.exec(text) ??
    /^([0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*)$/i.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = match?.[3] === undefined ? 22 : Number(match[3])
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port }
}

/** Addresses of proxies that are remembered. */
const MOST_PROXIES = 16
const proxies = new WeakMap<object, Set<string>>()

/** Remembers a trusted proxy whose request this configuration has read. */
export function noteProxy(config: object, address: string): void {
  const seen = proxies.get(config) ?? new Set()
  proxies.set(config, seen)
  // The latest one is the last.
  seen.delete(address)
  seen.add(address)
  const [oldest] = seen
  if (seen.size > MOST_PROXIES && oldest !== undefined) seen.delete(oldest)
}

/** Returns the addresses of the trusted proxies whose requests this configuration has read, the latest last. */
export function proxiesSeen(config: object): string[] {
  return [...(proxies.get(config) ?? [])]
}

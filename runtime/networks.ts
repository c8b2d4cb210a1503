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

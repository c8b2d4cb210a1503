/** Reads `host`, `host:port`, `[v6]:port` or a bare IPv6 address; undefined when it is none of them. */
export function parseAddress(text: string): { host: string; port: number } | undefined {
  const match =
    /^(?:\[([^\]\s]+)\]|([^:\s[\]]+))(?::(\d{1,5}))?$/.exec(text) ??
    /^([0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*)$/i.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = match?.[3] === undefined ? 22 : Number(match[3])
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port }
}

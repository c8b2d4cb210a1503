import { isIP } from 'node:net'
import type { Caller } from '../../runtime/context.ts'
import type { Services } from '../services.ts'

/**
 * The party that passkeys are made for: the name to which browsers bind them, and the origins of the pages that may ask
 * for them.
 */
export interface RelyingParty {
  id: string
  origins: string[]
}

/**
 * The relying party of the panel as the caller has opened it; undefined where there can be no passkeys, because
 * browsers know them only for a name, over HTTPS or on localhost. `PANEL_PUBLIC_URL` decides. Without it, the `Host`
 * header counts, but not where a proxy is trusted: some proxies pass on whatever a client sends. The pages of
 * `PANEL_ORIGINS` may ask as well, when they are below the same name.
 */
export function relyingPartyOf(
  { config: { publicUrl, trustsProxies, origins } }: Pick<Services, 'config'>,
  { host, secure }: Pick<Caller, 'host' | 'secure'>,
): RelyingParty | undefined {
  const seen = host === undefined || trustsProxies ? undefined : `${secure ? 'https' : 'http'}://${host}`
  const own = publicUrl ?? seen
  if (own === undefined || !URL.canParse(own)) return undefined
  const { origin, hostname: id, protocol } = new URL(own)
  // The host of an IPv6 address is in brackets.
  if (isIP(id) !== 0 || id.startsWith('[') || id === '') return undefined
  if (protocol !== 'https:' && id !== 'localhost' && !id.endsWith('.localhost')) return undefined
  const isBelow = (name: string) => name === id || name.endsWith(`.${id}`)
  return { id, origins: [origin, ...[...origins].filter((each) => isBelow(new URL(each).hostname))] }
}

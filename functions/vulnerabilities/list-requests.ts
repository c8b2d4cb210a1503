import { readUpTo } from '../../platform/untrusted.ts'

/** Why a list could not be fetched; the message is a French sentence. */
export class ListError extends Error {
  override readonly name = 'ListError'
}

/** The bounds of a request, and the tag of the stored body. */
export interface Wanted {
  etag: string | null
  maxBytes: number
  withinMs: number
}

/** The longest tag that is kept and sent back. */
const MAX_TAG = 256
/** Mirrors redirect once or twice. More redirects are a loop. */
const MAX_HOPS = 3
const REDIRECTS = [301, 302, 303, 307, 308]

/**
 * Fetches a file over HTTP; undefined when the stored body with this tag is still the newest. Follows redirects within
 * http: and https:, but not from https: to http:. Rejects with a ListError only.
 */
export async function fetchList(
  address: string,
  { etag, maxBytes, withinMs }: Wanted,
): Promise<{ bytes: Buffer; etag: string | null } | undefined> {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(), withinMs)
  const { origin } = new URL(address)
  try {
    const response = await follow(new URL(address), etag, ending.signal)
    if (response.status === 304 && etag !== null) return undefined
    if (response.status !== 200) throw new ListError(`${origin} a répondu HTTP ${response.status}.`)
    const bytes = await readUpTo(maxBytes, response.body)
    if (!bytes) throw new ListError(`La liste de ${origin} dépasse ${maxBytes / 1024 / 1024} Mio.`)
    const tag = response.headers.get('etag')
    return { bytes, etag: tag !== null && tag.length <= MAX_TAG ? tag : null }
  } catch (cause) {
    if (cause instanceof ListError) throw cause
    if (ending.signal.aborted) throw new ListError(`${origin} n’a pas répondu à temps.`, { cause })
    throw new ListError(`${origin} ne répond pas (${codeOf(cause)}).`, { cause })
  } finally {
    clearTimeout(timer)
    // An answer that was not read to its end keeps its connection.
    ending.abort()
  }
}

async function follow(from: URL, etag: string | null, signal: AbortSignal): Promise<Response> {
  // An encoding would only be decoded here; the lists are compressed themselves, or short.
  const headers = { 'accept-encoding': 'identity', ...(etag !== null && { 'if-none-match': etag }) }
  let at = from
  for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
    const response = await fetch(at, { headers, redirect: 'manual', signal })
    const location = response.headers.get('location')
    if (location === null || !REDIRECTS.includes(response.status)) return response
    await response.body?.cancel().catch(() => {})
    const next = URL.canParse(location, at) ? new URL(location, at) : undefined
    if (!next || !isAllowed(at, next)) throw new ListError(`${from.origin} redirige vers une adresse refusée.`)
    at = next
  }
  throw new ListError(`${from.origin} redirige sans fin d’une adresse à une autre.`)
}

function isAllowed(from: URL, to: URL): boolean {
  // Another machine may be one that only this service can reach.
  if (to.hostname !== from.hostname) return false
  return to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:')
}

/** Returns the code only: a message of fetch may quote headers. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? String(cause.code).slice(0, 80) : 'la connexion a échoué'
}

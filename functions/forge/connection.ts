import type { Response } from 'undici'
import { createConnector, type Refusals } from '../hypervisor/certificate.ts'
import { ForgeCertificateError, ForgeError } from './error.ts'
import { isLimit, PAUSES, type Pauses } from './pauses.ts'
import type { ForgeAddress } from './settings.ts'

/** The headers of an answer. */
export type ForgeHeaders = Pick<Headers, 'get'>

/** A renamed or moved forge redirects once. More redirects are a loop. */
const MAX_HOPS = 3
const REDIRECTS = [301, 302, 303, 307, 308]
const CONNECT_MS = 10_000

const REFUSALS: Refusals = {
  inClear: () =>
    new ForgeError(
      'unreachable',
      'son adresse est en http:, où aucun certificat ne peut être comparé à celui qui a été accepté : corrigez-la, ou videz forge_fingerprint',
    ),
  untrusted: (problem, fingerprint) => new ForgeCertificateError(problem, fingerprint),
}

/**
 * Sends GET requests below `/api/v1` of a forge, and returns the answers as they come. Requests and the token go to the
 * address's origin only, after its certificate was checked: a redirect must not send the token to another site. While
 * the forge limits requests, all wait.
 */
export function createForgeConnection(
  { url, token, fingerprint = '' }: Pick<ForgeAddress, 'url' | 'token' | 'fingerprint'>,
  pauses: Pauses = PAUSES,
) {
  const { origin, pathname } = new URL(url)
  const site = `${origin}${pathname.replace(/\/+$/, '')}`
  const headers = token ? { authorization: `token ${token}` } : {}
  // Imported on first use: undici takes a sixth of the start-up time. Idle connections end by themselves.
  const sending = once(async () => {
    const { Agent, buildConnector, fetch } = await import('undici')
    const connect = createConnector(buildConnector, fingerprint, { refuse: REFUSALS, timeout: CONNECT_MS })
    const dispatcher = new Agent({ connect })
    return (at: URL, signal: AbortSignal) => fetch(at, { headers, redirect: 'manual', signal, dispatcher })
  })

  const send = async (at: URL, signal: AbortSignal): Promise<Response> => {
    const request = await sending()
    for (;;) {
      await pauses.over(origin, signal)
      const response = await request(at, signal)
      if (!isLimit(response)) {
        pauses.end(origin)
        return response
      }
      await drop(response)
      pauses.begin(origin, response.headers)
    }
  }

  const follow = async (path: string, signal: AbortSignal): Promise<Response> => {
    let at = new URL(`${site}/api${path}`)
    for (let hop = 0; hop <= MAX_HOPS; hop += 1) {
      // Redirects are followed here, because fetch alone would send a request to any address that it receives.
      const response = await send(at, signal)
      const location = response.headers.get('location')
      if (location === null || !REDIRECTS.includes(response.status)) return response
      await drop(response)
      const next = URL.canParse(location, at) ? new URL(location, at) : undefined
      if (next?.origin !== origin) {
        const where = next?.origin.slice(0, 200) ?? 'une adresse illisible'
        throw new ForgeError(
          'unreachable',
          `${origin} redirige vers ${where}, qui n’est pas l’adresse de la forge dans les réglages (forge_url)`,
        )
      }
      at = next
    }
    throw new ForgeError('unreachable', `${origin} redirige sans fin d’une adresse à une autre`)
  }

  return {
    /**
     * Sends a GET request for a path below `/api`, such as `/v1/version`, and reads its answer by `read`. Rejects with
     * ForgeErrors; `what` names the resource in them, in French.
     */
    async get<result>(
      path: string,
      { what, signal }: { what: string; signal: AbortSignal },
      read: (response: Response) => Promise<result>,
    ): Promise<result> {
      // Each request has its own controller: fetch leaves listeners on a signal and warns about many on a shared one.
      const ending = new AbortController()
      const end = () => ending.abort()
      signal.addEventListener('abort', end)
      try {
        signal.throwIfAborted()
        return await read(await follow(path, ending.signal))
      } catch (cause) {
        if (cause instanceof ForgeError) throw cause
        // A refused certificate is the cause of the error of fetch.
        if (cause instanceof Error && cause.cause instanceof ForgeError) throw cause.cause
        const left = pauses.secondsLeft(origin)
        if (signal.aborted && left > 0)
          throw new ForgeError('unreachable', `${origin} limite les requêtes : réessayez dans ${left} s`, { cause })
        const why = signal.aborted ? 'à temps' : `(${codeOf(cause)})`
        throw new ForgeError('unreachable', `aucune réponse de ${origin} ${why} pour ${what}`, { cause })
      } finally {
        signal.removeEventListener('abort', end)
      }
    },
  }
}

export function isHtml({ headers }: { headers: ForgeHeaders }): boolean {
  return /^\s*text\/html\b/i.test(headers.get('content-type') ?? '')
}

/** Ends an unread answer; its connection would stay open otherwise. */
export async function drop({ body }: Pick<Response, 'body'>): Promise<undefined> {
  // An answer that has broken off meanwhile has ended too.
  await body?.cancel().catch(() => {})
}

function once<value>(make: () => Promise<value>): () => Promise<value> {
  let made: Promise<value> | undefined
  return () => (made ??= make())
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  // Returns the code only: a message of fetch may quote headers, the token among them.
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'la connexion a échoué'
}

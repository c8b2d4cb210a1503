import type { Configuration, CustomFetchOptions } from 'openid-client'
import * as z from 'zod'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { OidcSettings } from '../../platform/oidc-variables.ts'
import { readUpTo } from '../../platform/untrusted.ts'

type OidcConfig = Omit<OidcSettings, 'name'>

/** Why the provider did not name an account. The message is a French clause without a capital and without a full stop. */
export class OidcError extends Error {
  override readonly name = 'OidcError'
  /** `unreachable`: no usable answer; `denied`: the provider said no; `invalid`: what came back must not be trusted. */
  readonly reason: 'unreachable' | 'denied' | 'invalid'

  constructor(reason: OidcError['reason'], message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.reason = reason
  }
}

/** Logs why a sign-in failed: the sentence that the person reads, and the technical cause, which nobody outside is told. */
export function logOidcFailure(log: Log, { message, cause }: OidcError): void {
  // An error below this one may quote a part of a token.
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const { message: said, code, error } = Cause.parse(inner)
  const text = [said || code, ...(error === undefined ? [] : [`(${error.slice(0, 100)})`])].join(' ')
  log.warn({ reason: message, ...(text !== '' && { cause: text }) }, 'a sign-in by the provider failed')
}

/** An error of the network or of the library; `error` is the code in an answer of the provider. */
const Cause = z.object({ message: z.string(), code: z.string(), error: z.string() }).partial().catch({})

/** The secrets of a request that the service keeps until its answer comes back. */
export const Pending = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() })
export type Pending = z.infer<typeof Pending>

const PANEL_REFUSED = 'le fournisseur n’admet pas ce panneau (PANEL_OIDC_CLIENT_ID, PANEL_OIDC_CLIENT_SECRET)'
/** Time for one sign-in at the provider: it answers in milliseconds, and people wait for it. */
const WITHIN_MS = 10_000
/** The largest answer of a provider. A discovery document has some kilobytes, a key set with certificates some tens. */
const MAX_BYTES = 512 * 1024
/** The parameters of an answer that count; some providers add a session state. */
const MAX_ANSWER = 8_192
/** Clocks of the provider and of this machine may differ by this many seconds. */
const TOLERANCE = 30

/**
 * Makes the address at which a person signs in at the provider (authorization code flow with PKCE, RFC 7636).
 * Rejects with an OidcError.
 */
export async function authorizationRequest(
  config: OidcConfig,
  clock: Clock,
): Promise<{ url: string; pending: Pending }> {
  const client = await import('openid-client')
  const provider = await discover(config, clock)
  const pending = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
  }
  const parameters = {
    redirect_uri: config.redirect,
    scope: 'openid profile',
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
  }
  try {
    return { url: client.buildAuthorizationUrl(provider, parameters).href, pending }
  } catch (cause) {
    // The document names no address of a web page, and a better one must not wait for its turn.
    discovered.delete(config)
    throw outside(cause, 'unreachable', withoutConfiguration(config.issuer))
  }
}

/**
 * Exchanges the code of an answer for an ID token and returns the account that it names. Issuer, audience, nonce, times
 * and the signature are checked. Rejects with an OidcError.
 */
export async function accountOf(config: OidcConfig, pending: Pending, answer: string, clock: Clock): Promise<string> {
  const client = await import('openid-client')
  if (answer.length > MAX_ANSWER) throw new OidcError('invalid', 'la réponse du fournisseur est trop longue')
  const provider = await discover(config, clock)
  const at = new URL(config.redirect)
  at.search = answer
  const claims = await client
    .authorizationCodeGrant(provider, at, {
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      pkceCodeVerifier: pending.verifier,
      idTokenExpected: true,
    })
    .then((tokens) => tokens.claims())
    .catch((cause: unknown) => {
      // Its configuration may be the former one of a provider that has changed.
      discovered.delete(config)
      throw cause instanceof client.AuthorizationResponseError
        ? new OidcError('denied', `le fournisseur a refusé (${cause.error.slice(0, 100)})`, { cause })
        : isPanelRefused(cause)
          ? new OidcError('denied', PANEL_REFUSED, { cause })
          : outside(cause, 'invalid', 'la réponse du fournisseur n’est pas valable')
    })
  const name = claims?.[config.claim]
  if (typeof name !== 'string' || name === '')
    throw new OidcError('invalid', `le fournisseur ne donne pas la donnée « ${config.claim} » (PANEL_OIDC_CLAIM)`)
  // At many providers people enter any address themselves, also that of somebody else.
  if (config.claim === 'email' && claims?.email_verified !== true)
    throw new OidcError('invalid', 'le fournisseur n’a pas vérifié l’adresse de courriel (PANEL_OIDC_CLAIM)')
  return name
}

const withoutConfiguration = (issuer: string) =>
  `le fournisseur ${new URL(issuer).origin} ne donne pas sa configuration`

/** Returns true for a provider that refuses the panel itself, not the person: RFC 6749, 5.2. */
function isPanelRefused(cause: unknown): boolean {
  if (!(cause instanceof Error) || !('code' in cause)) return false
  if (cause.code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE') return true
  return 'error' in cause && (cause.error === 'invalid_client' || cause.error === 'unauthorized_client')
}

interface Discovered {
  /** When it was asked for. */
  at: number
  url: string
  document: ArrayBuffer
  headers: Headers
}

/** How long a discovery document counts. The keys, which change without notice, are fetched for each sign-in. */
const DOCUMENT_MS = 10 * 60_000
const discovered = new WeakMap<OidcConfig, Discovered>()

/** The configuration of the provider, out of its document, which is checked each time and fetched when the one there is old. */
async function discover(config: OidcConfig, clock: Clock): Promise<Configuration> {
  const { issuer, clientId, clientSecret } = config
  const client = await import('openid-client')
  const at = clock().getTime()
  const known = discovered.get(config)
  const isFresh = known && Math.abs(at - known.at) < DOCUMENT_MS
  let fetched: Discovered | undefined
  const documentFetch = async (url: string, request: CustomFetchOptions) => {
    if (isFresh && known.url === url) return new Response(known.document, { headers: known.headers })
    const response = await boundedFetch(url, request)
    fetched = { at, url, document: await response.clone().arrayBuffer(), headers: response.headers }
    return response
  }
  const server = new URL(issuer)
  const execute = [client.enableNonRepudiationChecks]
  // The configuration admits http only for this machine itself.
  if (server.protocol === 'http:') execute.push(client.allowInsecureRequests)
  const options = { execute, timeout: WITHIN_MS / 1000, [client.customFetch]: documentFetch }
  try {
    const metadata = {
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      [client.clockTolerance]: TOLERANCE,
    }
    const provider = await client.discovery(server, clientId, metadata, undefined, options)
    provider[client.customFetch] = boundedFetch
    if (fetched) discovered.set(config, fetched)
    return provider
  } catch (cause) {
    const isOther = cause instanceof Error && 'code' in cause && cause.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'
    const other = `le fournisseur ${server.origin} se nomme autrement (PANEL_OIDC_ISSUER)`
    throw outside(cause, 'unreachable', isOther ? other : withoutConfiguration(issuer))
  }
}

/** Asks the provider, whose silence is no answer of it, and reads at most `MAX_BYTES`: the library itself reads all of it. */
async function boundedFetch(url: string, { body, headers, method, redirect, signal }: CustomFetchOptions) {
  const { origin } = new URL(url)
  const silent = (cause: unknown): never => {
    throw new OidcError('unreachable', `le fournisseur ${origin} ne répond pas`, { cause })
  }
  const response = await fetch(url, {
    headers,
    method,
    redirect,
    body: body instanceof Uint8Array ? new Uint8Array(body) : (body ?? null),
    signal: signal ?? AbortSignal.timeout(WITHIN_MS),
  }).catch(silent)
  const bytes = await readUpTo(MAX_BYTES, response.body).catch(silent)
  if (!bytes) throw new OidcError('unreachable', `la réponse de ${origin} est trop longue`)
  const empty = response.status === 204 || response.status === 205 || response.status === 304
  return new Response(empty ? null : new Uint8Array(bytes), { status: response.status, headers: response.headers })
}

function outside(cause: unknown, reason: OidcError['reason'], message: string): OidcError {
  if (cause instanceof OidcError) return cause
  const inner = cause instanceof Error ? cause.cause : undefined
  if (inner instanceof OidcError) return inner
  return new OidcError(reason, message, { cause })
}

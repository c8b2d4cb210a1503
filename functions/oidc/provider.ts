import type { Configuration, CustomFetchOptions } from 'openid-client'
import * as z from 'zod'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { OidcSettings } from '../../platform/oidc-variables.ts'
import { readUpTo } from '../../platform/untrusted.ts'
import { type Failure, failuresOf, OutsideError } from '../../runtime/errors.ts'
import { OIDC_ERRORS } from './codes.ts'

type OidcConfig = Omit<OidcSettings, 'name'>

const fail = failuresOf(OIDC_ERRORS)
const CODES = { unreachable: 'oidc_unreachable', denied: 'oidc_denied', invalid: 'oidc_invalid' } as const

/** Why the provider did not name an account. The message is a French clause without a capital and without a full stop. */
export class OidcError extends OutsideError {
  override readonly name = 'OidcError'
  /** `unreachable`: no usable answer; `denied`: the provider said no; `invalid`: what came back must not be trusted. */
  readonly reason: 'unreachable' | 'denied' | 'invalid'

  constructor(reason: OidcError['reason'], message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.reason = reason
  }

  toFailure(): Failure {
    return fail(CODES[this.reason], { values: { message: this.message }, cause: this })
  }

  /** The technical cause, for those who run the service alone; empty where there is none. */
  get technical(): string {
    // An error below this one may quote a part of a token.
    const inner = this.cause instanceof Error && this.cause.cause instanceof Error ? this.cause.cause : this.cause
    const { message, code, error } = Cause.parse(inner)
    return [message || code, ...(error === undefined ? [] : [`(${error.slice(0, 100)})`])].join(' ')
  }

  /** The line has the sentence that the person reads, and the technical cause. */
  override logTo(log: Log, request: Record<string, unknown>): void {
    const cause = this.technical
    log.warn({ ...request, reason: this.message, ...(cause !== '' && { cause }) }, 'a sign-in by the provider failed')
  }
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
/** A person whom the provider asked longer ago, in seconds, is asked again: so old may a proof be, too. */
const MAX_AGE = 900
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
    max_age: String(MAX_AGE),
  }
  try {
    return { url: client.buildAuthorizationUrl(provider, parameters).href, pending }
  } catch (cause) {
    // The document names no address of a web page, and a better one must not wait for its turn.
    discovered.delete(config)
    throw outside(cause, 'unreachable', withoutConfiguration(config.issuer))
  }
}

/** The account that a provider names. */
export interface Named {
  name: string
  /**
   * When the person proved to the provider who they are, by `auth_time`: before the request, where the provider did not ask them
   * again. The beginning of time where it does not tell, or tells nonsense.
   */
  provenAt: Date
}

/**
 * Exchanges the code of an answer for an ID token and returns the account that it names. Issuer, audience, nonce, times
 * and the signature are checked. `max_age` of the request passes through the browser, which can leave it out: only `auth_time`
 * tells how old the proof is. Rejects with an OidcError.
 */
export async function accountOf(config: OidcConfig, pending: Pending, answer: string, clock: Clock): Promise<Named> {
  const client = await import('openid-client')
  if (answer.length > MAX_ANSWER) throw new OidcError('invalid', 'la réponse du fournisseur est trop longue')
  const provider = await discover(config, clock)
  let isAsked = false
  provider[client.customFetch] = (url, options) => {
    isAsked = true
    return boundedFetch(url, options)
  }
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
      // The configuration may be the former one of a provider that has changed. A wrong answer of the browser does not tell
      // that, and neither does a provider that says why it gives no token: anybody can make it say so.
      if (isAsked && !(cause instanceof client.ResponseBodyError)) discovered.delete(config)
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
  const seconds = claims?.auth_time ?? 0
  // A time to come, such as one in milliseconds, tells nothing.
  const isPast = seconds <= clock().getTime() / 1000 + TOLERANCE
  return { name, provenAt: new Date(isPast ? seconds * 1000 : 0) }
}

/**
 * Asks the provider for all that it tells without a person: its configuration and, by a code that it never gave, whether it
 * admits this panel. Takes at most twice `WITHIN_MS`. Rejects with an OidcError.
 */
export async function tryProvider(config: OidcConfig, clock: Clock): Promise<void> {
  const client = await import('openid-client')
  const { pending } = await authorizationRequest(config, clock)
  const { issuer } = (await discover(config, clock)).serverMetadata()
  const answer = new URLSearchParams({ code: 'ops-panel-doctor', state: pending.state, iss: issuer })
  await accountOf(config, pending, `?${answer}`, clock).catch((error: unknown) => {
    const isOfTheCode = error instanceof OidcError && error.reason === 'invalid'
    if (!isOfTheCode || !(error.cause instanceof client.ResponseBodyError)) throw error
  })
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

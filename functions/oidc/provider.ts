import type { Configuration, CustomFetchOptions } from 'openid-client'
import * as z from 'zod'
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

/** The secrets of a request that the service keeps until its answer comes back. */
export const Pending = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() })
export type Pending = z.infer<typeof Pending>

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
export async function authorizationRequest(config: OidcConfig): Promise<{ url: string; pending: Pending }> {
  const client = await import('openid-client')
  const provider = await discover(config)
  const pending = {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
  }
  const url = client.buildAuthorizationUrl(provider, {
    redirect_uri: config.redirect,
    scope: 'openid profile',
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await client.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
  })
  return { url: url.href, pending }
}

/**
 * Exchanges the code of an answer for an ID token and returns the account that it names. Issuer, audience, nonce, times
 * and the signature are checked. Rejects with an OidcError.
 */
export async function accountOf(config: OidcConfig, pending: Pending, answer: string): Promise<string> {
  const client = await import('openid-client')
  if (answer.length > MAX_ANSWER) throw new OidcError('invalid', 'la réponse du fournisseur est trop longue')
  const provider = await discover(config)
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
      throw cause instanceof client.AuthorizationResponseError
        ? new OidcError('denied', `le fournisseur a refusé (${cause.error.slice(0, 100)})`, { cause })
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

async function discover({ issuer, clientId, clientSecret }: OidcConfig): Promise<Configuration> {
  const client = await import('openid-client')
  const server = new URL(issuer)
  const execute = [client.enableNonRepudiationChecks]
  // The configuration admits http only for this machine itself.
  if (server.protocol === 'http:') execute.push(client.allowInsecureRequests)
  const options = { execute, timeout: WITHIN_MS / 1000, [client.customFetch]: boundedFetch }
  try {
    const metadata = {
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      [client.clockTolerance]: TOLERANCE,
    }
    return await client.discovery(server, clientId, metadata, undefined, options)
  } catch (cause) {
    throw outside(cause, 'unreachable', `le fournisseur ${server.origin} ne donne pas sa configuration`)
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

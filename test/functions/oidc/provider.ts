import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'

/** The claims and errors of the provider; a test changes them to lie. */
export interface Says {
  claims: JWTPayload
  /** Seconds until the ID token expires. */
  lifetime: number
  /** Signs the ID token with a key that the provider does not publish. */
  foreignKey?: true
  unsigned?: true
  /** Replaces the body of the discovery document. */
  discovery?: (response: ServerResponse) => void
  token?: (response: ServerResponse) => void
  /** Replaces the query with which a browser is sent back. */
  back?: (query: string) => string
}

/** Starts an OpenID Connect provider that signs in everybody as `says.claims` tell, a browser without a question. */
export async function startProvider(says: Partial<Says> = {}) {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const foreign = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const state: Says = { claims: { preferred_username: 'bob' }, lifetime: 300, ...says }
  /** Code → the request that it answers. */
  const codes = new Map<string, URLSearchParams>()
  const asked: { path: string; body: string }[] = []

  const signIn = (url: string, change: Record<string, string> = {}): string => {
    const request = new URL(url).searchParams
    const code = `code-${codes.size + 1}-${Math.random()}`
    codes.set(code, request)
    return `?${new URLSearchParams({ code, state: request.get('state') ?? '', ...change })}`
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    const { pathname } = new URL(request.url ?? '/', issuer())
    asked.push({ path: pathname, body })
    const json = (value: unknown, status = 200) =>
      void response
        .writeHead(status, { 'content-type': 'application/json', connection: 'close' })
        .end(JSON.stringify(value))
    if (pathname === '/.well-known/openid-configuration') {
      if (state.discovery) return state.discovery(response)
      return json({
        issuer: issuer(),
        authorization_endpoint: `${issuer()}/authorize`,
        token_endpoint: `${issuer()}/token`,
        jwks_uri: `${issuer()}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      })
    }
    if (pathname === '/keys') return json({ keys: [jwk] })
    if (pathname === '/authorize') {
      const { href, searchParams } = new URL(request.url ?? '/', issuer())
      const query = state.back?.(signIn(href)) ?? signIn(href)
      return void response
        .writeHead(302, { location: `${searchParams.get('redirect_uri')}${query}`, connection: 'close' })
        .end()
    }
    if (pathname !== '/token') return json({ error: 'not_found' }, 404)
    if (state.token) return state.token(response)
    const given = new URLSearchParams(body)
    const request_ = codes.get(given.get('code') ?? '')
    codes.delete(given.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    if (!request_ || request_.get('code_challenge') !== challenge) return json({ error: 'invalid_grant' }, 400)
    const at = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuer(),
      aud: 'panel',
      sub: 'subject-1',
      iat: at,
      exp: at + state.lifetime,
      auth_time: at,
      nonce: request_.get('nonce') ?? '',
      ...state.claims,
    }
    const signed = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .sign(state.foreignKey ? foreign.privateKey : privateKey)
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${signed.split('.')[1]}.`
    return json({ access_token: 'x', token_type: 'bearer', id_token: state.unsigned ? none : signed })
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const issuer = () => {
    const address = server.address()
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  }
  return {
    issuer: issuer(),
    says: state,
    asked,
    /** Signs somebody in at an address that the service made; returns the query with which they come back. */
    signIn,
  }
}

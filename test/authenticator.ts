import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** The numbers that COSE gives to the algorithms of passkeys. */
const ALGORITHMS = { ES256: -7, EdDSA: -8, RS256: -257 } as const
export type Algorithm = keyof typeof ALGORITHMS

/** The claims of a response; by default those of an honest authenticator. */
export interface Claims {
  /** The page that called the browser. */
  origin?: string
  /** The relying party of which the authenticator signs the hash. */
  rpId?: string
  challenge?: string
  type?: string
  crossOrigin?: boolean
  topOrigin?: string
  /** Whether somebody touched the authenticator, and whether it recognized its owner. */
  present?: boolean
  verified?: boolean
  /** The signature counter; by default one more than the last one. */
  counter?: number
  /** The key that signs instead of the own one. */
  signedBy?: Authenticator
  /** The credential that the response names instead of the own one. */
  id?: string
  /** The user whose passkey it is; null tells none. */
  userHandle?: string | null
}

interface Created {
  challenge: string
  rp: { id: string }
  user: { id: string }
}
interface Asked {
  challenge: string
  rpId: string
}

/** An authenticator in software, with one credential. */
export interface Authenticator {
  readonly id: string
  /** Answers the creation options of a registration; `format` and `statement` are its attestation. */
  create(options: Created, claims?: Claims & { format?: string; statement?: Cbor }): ReturnType<typeof registration>
  /** Answers the request options of a sign-in. */
  get(options: Asked, claims?: Claims): ReturnType<typeof assertion>
  signs(data: Buffer): Buffer
}

/** Makes an authenticator. With `counts: false` its counter is always 0, as that of passkeys which are synchronized. */
export function createAuthenticator({
  origin,
  algorithm = 'ES256',
  counts = true,
  id = randomBytes(32).toString('base64url'),
}: {
  origin: string
  algorithm?: Algorithm
  counts?: boolean
  id?: string
}): Authenticator {
  const { publicKey, privateKey } = keyPair(algorithm)
  let last = 0
  let user: string | null = null
  const next = (claims: Claims) => {
    last = claims.counter ?? (counts ? last + 1 : 0)
    return last
  }
  const clientData = (type: string, challenge: string, claims: Claims) =>
    Buffer.from(
      JSON.stringify({
        type: claims.type ?? type,
        challenge: claims.challenge ?? challenge,
        origin: claims.origin ?? origin,
        crossOrigin: claims.crossOrigin ?? false,
        ...(claims.topOrigin !== undefined && { topOrigin: claims.topOrigin }),
      }),
    )
  return {
    id,
    create({ challenge, rp, user: owner }, claims = {}) {
      user = owner.id
      const key = encoded(coseKey(algorithm, publicKey))
      const credential = Buffer.from(claims.id ?? id, 'base64url')
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credential.length)
      const attested = Buffer.concat([Buffer.alloc(16), length, credential, key])
      const authData = authenticatorData(claims.rpId ?? rp.id, next(claims), claims, attested)
      const { format = 'none', statement = new Map() } = claims
      const object = encoded(
        new Map<Cbor, Cbor>([
          ['fmt', format],
          ['attStmt', statement],
          ['authData', authData],
        ]),
      )
      return registration(claims.id ?? id, clientData('webauthn.create', challenge, claims), object)
    },
    get({ challenge, rpId }, claims = {}) {
      const client = clientData('webauthn.get', challenge, claims)
      const authData = authenticatorData(claims.rpId ?? rpId, next(claims), claims)
      const data = Buffer.concat([authData, createHash('sha256').update(client).digest()])
      const signature = claims.signedBy?.signs(data) ?? signed(algorithm, privateKey, data)
      const handle = claims.userHandle === undefined ? user : claims.userHandle
      return assertion(claims.id ?? id, { client, authData, signature, handle })
    },
    signs: (data) => signed(algorithm, privateKey, data),
  }
}

function registration(id: string, client: Buffer, object: Buffer) {
  return {
    id,
    rawId: id,
    type: 'public-key' as const,
    response: {
      clientDataJSON: client.toString('base64url'),
      attestationObject: object.toString('base64url'),
      transports: ['internal', 'hybrid'],
    },
    clientExtensionResults: {},
  }
}

function assertion(
  id: string,
  {
    client,
    authData,
    signature,
    handle,
  }: Record<'client' | 'authData' | 'signature', Buffer> & { handle: string | null },
) {
  return {
    id,
    rawId: id,
    type: 'public-key' as const,
    response: {
      clientDataJSON: client.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: handle,
    },
    clientExtensionResults: {},
  }
}

/** https://www.w3.org/TR/webauthn-3/#authenticator-data */
function authenticatorData(
  rpId: string,
  counter: number,
  { present = true, verified = true }: Claims,
  attested = Buffer.alloc(0),
): Buffer {
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter)
  const flags = Number(present) | (Number(verified) << 2) | (Number(attested.length > 0) << 6)
  return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), count, attested])
}

function keyPair(algorithm: Algorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519')
  return algorithm === 'ES256'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })
}

function signed(algorithm: Algorithm, key: KeyObject, data: Buffer): Buffer {
  return sign(algorithm === 'EdDSA' ? null : 'sha256', data, key)
}

function coseKey(algorithm: Algorithm, key: KeyObject): Cbor {
  const jwk = key.export({ format: 'jwk' })
  const bytes = (text = '') => Buffer.from(text, 'base64url')
  const parameters: [number, Cbor][] =
    algorithm === 'RS256'
      ? [
          [-1, bytes(jwk.n)],
          [-2, bytes(jwk.e)],
        ]
      : [
          [-1, algorithm === 'ES256' ? 1 : 6],
          [-2, bytes(jwk.x)],
        ]
  if (algorithm === 'ES256') parameters.push([-3, bytes(jwk.y)])
  const type = { EdDSA: 1, ES256: 2, RS256: 3 }[algorithm]
  return new Map<Cbor, Cbor>([[1, type], [3, ALGORITHMS[algorithm]], ...parameters])
}

/** The CBOR values that authenticators use. */
export type Cbor = number | string | Buffer | readonly Cbor[] | ReadonlyMap<Cbor, Cbor>

export function encoded(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map)
    return Buffer.concat([head(5, value.size), ...[...value].flat().map((each: Cbor) => encoded(each))])
  return Array.isArray(value) ? Buffer.concat([head(4, value.length), ...value.map(encoded)]) : head(0, 0)
}

function head(type: number, length: number): Buffer {
  const major = type << 5
  if (length < 24) return Buffer.from([major | length])
  if (length < 256) return Buffer.from([major | 24, length])
  return Buffer.from([major | 25, length >> 8, length & 255])
}

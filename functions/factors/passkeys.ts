/*
 * Passkeys (WebAuthn, level 3): what browsers are asked, and whether their answers hold. An answer counts only with the
 * signature of a stored key over the challenge of this request, the name of this panel, the origin of its page and the
 * word of the authenticator that it has recognized its owner (by a PIN or a finger).
 */
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import { findPasskey, listPasskeys, type NewPasskey, type Passkey, usingPasskey } from '../../db/access/passkeys.ts'
import type { Statement } from '../../db/libsql/database.ts'
import { timestamp } from '../../platform/clock.ts'
import type { Caller } from '../../runtime/context.ts'
import type { Services } from '../services.ts'
import type { Assertion, CreationOptions, Registration, RequestOptions } from './passkey-shapes.ts'
import { type RelyingParty, relyingPartyOf } from './relying-party.ts'

/** The part of a question that the service keeps, inside of a challenge, until the answer comes. */
export const PasskeyQuestion = z.object({ challenge: z.string(), rp_id: z.string(), origins: z.array(z.string()) })
export type PasskeyQuestion = z.infer<typeof PasskeyQuestion>

/**
 * Why an answer is refused, for the audit log. `counter`: the counter has not grown, so the authenticator is possibly a
 * copy. `framed`: the asking page was inside of another one.
 */
export type Flaw =
  | 'malformed'
  | 'challenge'
  | 'origin'
  | 'framed'
  | 'relying_party'
  | 'presence'
  | 'verification'
  | 'signature'
  | 'attestation'
  | 'unknown_passkey'
  | 'other_user'
  | 'counter'

/** How long a browser waits for the person, in ms: less than the service waits for the answer. */
const TIMEOUT = 240_000
/** ES256, EdDSA and RS256, by their COSE numbers, in the order of preference. */
const ALGORITHMS = [-7, -8, -257]
const CHALLENGE_BYTES = 32
/** Longest public key, in bytes: one of RSA with 4,096 bits has some 530. */
const MOST_KEY_BYTES = 1_024

type Given = Pick<Services, 'db' | 'config' | 'secrets' | 'clock'>
interface Person {
  id: number
  username: string
}

/** A question for `navigator.credentials`, and what the service must keep of it. */
export interface Asked<options> {
  options: options
  question: PasskeyQuestion
}

interface CreationChoice {
  challenge?: string
  /** Whether the authenticator must find the passkey without being told which one, for a sign-in without a user name. */
  residentKey?: 'preferred' | 'required'
}

/** Asks for a new passkey of this person; undefined where the panel has no name for passkeys. */
export async function creationOptions(
  services: Given,
  caller: Caller,
  person: Person,
  { challenge = newPasskeyChallenge(), residentKey = 'preferred' }: CreationChoice = {},
): Promise<Asked<CreationOptions> | undefined> {
  const party = relyingPartyOf(services, caller)
  if (!party) return undefined
  const known = await listPasskeys(services.db, person.id, party.id)
  const options = {
    rp: { id: party.id, name: `ops-panel (${party.id})` },
    user: { id: passkeyHandle(services, person.id), name: person.username, displayName: person.username },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: TIMEOUT,
    attestation: 'none' as const,
    excludeCredentials: known.map(descriptor),
    authenticatorSelection: {
      residentKey,
      requireResidentKey: residentKey === 'required',
      userVerification: 'required' as const,
    },
  }
  return { options, question: questionOf(party, challenge) }
}

/**
 * Asks for one of this person's passkeys, or for anybody's. Undefined where no passkey works: the person has none, or
 * the panel has no name for passkeys.
 */
export async function requestOptions(
  services: Given,
  caller: Caller,
  person: Pick<Person, 'id'> | 'anybody',
): Promise<Asked<RequestOptions> | undefined> {
  const party = relyingPartyOf(services, caller)
  if (!party) return undefined
  const known = person === 'anybody' ? [] : await listPasskeys(services.db, person.id, party.id)
  if (person !== 'anybody' && known.length === 0) return undefined
  const challenge = newPasskeyChallenge()
  const options = {
    rpId: party.id,
    challenge,
    timeout: TIMEOUT,
    userVerification: 'required' as const,
    allowCredentials: known.map(descriptor),
  }
  return { options, question: questionOf(party, challenge) }
}

/** A random challenge, for one question. */
export function newPasskeyChallenge(): string {
  return randomBytes(CHALLENGE_BYTES).toString('base64url')
}

/** The kept part of a question with this challenge; undefined where the panel has no name for passkeys. */
export function passkeyQuestion(
  services: Pick<Services, 'config'>,
  caller: Caller,
  challenge: string,
): PasskeyQuestion | undefined {
  const party = relyingPartyOf(services, caller)
  return party && questionOf(party, challenge)
}

const questionOf = ({ id, origins }: RelyingParty, challenge: string) => ({ challenge, rp_id: id, origins })

const descriptor = ({ credential_id, transports }: Passkey) => ({
  type: 'public-key' as const,
  id: credential_id,
  transports,
})

/**
 * The name of a person for authenticators, which keep one passkey for each. It tells nothing about the account, and
 * differs from that of another panel under the same host name.
 */
export function passkeyHandle({ secrets }: Pick<Services, 'secrets'>, id: number): string {
  return secrets.mark('passkey user', String(id))
}

export type Registered = { flaw: Flaw } | { flaw?: undefined; passkey: Omit<NewPasskey, 'user_id' | 'name'> }

/** Checks the answer to `creationOptions`. */
export async function verifyRegistration(question: PasskeyQuestion, response: Registration): Promise<Registered> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers')
  const { clientDataJSON, attestationObject, transports } = response.response
  try {
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject))
    const flaw =
      (await flawOf(question, { type: 'webauthn.create', clientDataJSON, authData: attestation.get('authData') })) ??
      // None was asked for. A certificate in it could name an address that the library would fetch.
      (isPlain(attestation.get('fmt'), attestation.get('attStmt').get('x5c')) ? undefined : 'attestation')
    if (flaw) return { flaw }
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...response, response: { clientDataJSON, attestationObject } },
      expectedChallenge: question.challenge,
      expectedOrigin: question.origins,
      expectedRPID: question.rp_id,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (!verified) return { flaw: 'signature' }
    const { id, publicKey, counter } = registrationInfo.credential
    if (id !== response.id || publicKey.length > MOST_KEY_BYTES) return { flaw: 'malformed' }
    const public_key = isoBase64URL.fromBuffer(publicKey)
    return { passkey: { credential_id: id, public_key, rp_id: question.rp_id, counter, transports } }
  } catch {
    // The library throws plain errors for whatever it does not accept.
    return { flaw: 'malformed' }
  }
}

/** Of what browsers leave of an attestation: nothing, or the new key's own signature. */
function isPlain(format: string, certificates: unknown): boolean {
  return format === 'none' || (format === 'packed' && certificates === undefined)
}

/**
 * The result of an answer to `requestOptions`. `statements` belong into the transaction of what the answer allows: they
 * store the use, and roll it back where the counter was raised meanwhile.
 */
export type Asserted = { flaw: Flaw } | { flaw?: undefined; statements: Statement[] }

/** Checks the answer to `requestOptions` as one of this user. Hostile answers throw nothing. */
export async function verifyAssertion(
  services: Pick<Services, 'db' | 'secrets' | 'clock'>,
  { question, userId }: { question: PasskeyQuestion; userId: number },
  assertion: Assertion,
): Promise<Asserted> {
  const { db, clock } = services
  const passkey = await findPasskey(db, assertion.id)
  if (!passkey) return { flaw: 'unknown_passkey' }
  const { userHandle: handle } = assertion.response
  if (passkey.user_id !== userId || (handle !== undefined && handle !== passkeyHandle(services, userId)))
    return { flaw: 'other_user' }
  const counter = await verifiedCounter(question, passkey, assertion)
  if (typeof counter === 'string') return { flaw: counter }
  if (counter <= passkey.counter && counter + passkey.counter > 0) return { flaw: 'counter' }
  return { statements: usingPasskey(passkey.id, counter, timestamp(clock())) }
}

async function verifiedCounter(
  question: PasskeyQuestion,
  { credential_id, public_key }: Passkey,
  { response, ...rest }: Assertion,
): Promise<number | Flaw> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  const { isoBase64URL } = await import('@simplewebauthn/server/helpers')
  const { clientDataJSON, authenticatorData, signature } = response
  try {
    const authData = isoBase64URL.toBuffer(authenticatorData)
    const flaw = await flawOf(question, { type: 'webauthn.get', clientDataJSON, authData })
    if (flaw) return flaw
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...rest, response: { clientDataJSON, authenticatorData, signature } },
      expectedChallenge: question.challenge,
      expectedOrigin: question.origins,
      expectedRPID: question.rp_id,
      // The counter is compared after the signature: only the authenticator itself can say that it is a copy.
      credential: { id: credential_id, publicKey: isoBase64URL.toBuffer(public_key), counter: 0 },
    })
    return verified ? authenticationInfo.newCounter : 'signature'
  } catch {
    return 'signature'
  }
}

const ClientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
})

/** The first thing that is wrong with an answer beside its signature, which the library checks. */
async function flawOf(
  { challenge, origins, rp_id }: PasskeyQuestion,
  { type, clientDataJSON, authData }: { type: string; clientDataJSON: string; authData: Uint8Array<ArrayBuffer> },
): Promise<Flaw | undefined> {
  const { decodeClientDataJSON, parseAuthenticatorData, toHash } = await import('@simplewebauthn/server/helpers')
  let client: z.infer<typeof ClientData>
  let said: ReturnType<typeof parseAuthenticatorData>
  try {
    client = ClientData.parse(decodeClientDataJSON(clientDataJSON))
    said = parseAuthenticatorData(authData)
  } catch {
    return 'malformed'
  }
  if (client.type !== type) return 'malformed'
  if (client.challenge !== challenge) return 'challenge'
  if (!origins.includes(client.origin)) return 'origin'
  if (client.crossOrigin || client.topOrigin !== undefined) return 'framed'
  const isOurs = Buffer.from(await toHash(Buffer.from(rp_id))).equals(Buffer.from(said.rpIdHash))
  if (!isOurs) return 'relying_party'
  if (!said.flags.up) return 'presence'
  return said.flags.uv ? undefined : 'verification'
}

import type { PasskeyRequest } from '../../client/index.ts'

/** Why the browser gave no passkey. */
export class PasskeyError extends Error {
  override name = 'PasskeyError'
  /** `declined`: by the user, or after their time was over. `known`: this device already has one for the account. */
  readonly why: 'declined' | 'known' | 'failed'

  constructor(why: PasskeyError['why'], cause: unknown) {
    super(why, { cause })
    this.why = why
  }
}

/** Whether this browser has passkeys, which are for pages over HTTPS or of this machine alone. */
export function hasPasskeys(): boolean {
  return (
    isSecureContext &&
    typeof PublicKeyCredential === 'function' &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function'
  )
}

/** Asks the user for a passkey; the answer is for the service. */
export async function askPasskey(options: PasskeyRequest, signal?: AbortSignal) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const { id, rawId, response } = await answered(navigator.credentials.get({ publicKey, ...(signal && { signal }) }))
  if (!('signature' in response)) throw new PasskeyError('failed', undefined)
  const { clientDataJSON, authenticatorData, signature, userHandle } = response
  const proof = { clientDataJSON, authenticatorData, signature, ...(userHandle !== undefined && { userHandle }) }
  return { id, rawId, type: 'public-key' as const, response: proof, clientExtensionResults: {} }
}

export type Assertion = Awaited<ReturnType<typeof askPasskey>>

/** Makes a passkey on a device of the user; the answer is for the service. */
export async function makePasskey(options: PublicKeyCredentialCreationOptionsJSON, signal?: AbortSignal) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const { id, rawId, response } = await answered(navigator.credentials.create({ publicKey, ...(signal && { signal }) }))
  if (!('attestationObject' in response)) throw new PasskeyError('failed', undefined)
  const { clientDataJSON, attestationObject, transports } = response
  const made = { clientDataJSON, attestationObject, transports }
  return { id, rawId, type: 'public-key' as const, response: made, clientExtensionResults: {} }
}

async function answered(asked: Promise<Credential | null>) {
  const credential = await asked.catch((error: unknown) => {
    throw new PasskeyError(whyOf(error), error)
  })
  if (!(credential instanceof PublicKeyCredential)) throw new PasskeyError('failed', undefined)
  return credential.toJSON()
}

function whyOf(error: unknown): PasskeyError['why'] {
  const name = error instanceof Error ? error.name : ''
  if (name === 'NotAllowedError' || name === 'AbortError') return 'declined'
  return name === 'InvalidStateError' ? 'known' : 'failed'
}

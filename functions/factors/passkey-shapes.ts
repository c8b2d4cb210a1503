/*
 * The JSON forms of WebAuthn's options and answers, as `PublicKeyCredential.parseCreationOptionsFromJSON` and `toJSON`
 * of browsers read and write them. https://www.w3.org/TR/webauthn-3/#dictdef-registrationresponsejson
 */
import * as z from 'zod'

const base64url = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[\w-]+$/)

/** At most 1,023 bytes, so that the specification of WebAuthn allows it. */
const CredentialId = base64url(1_364)
const Transports = z.array(z.string().max(32)).max(8)

const Descriptor = z.object({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()) })

/** The argument of `navigator.credentials.create`. */
export const CreationOptions = z.object({
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  challenge: z.string(),
  pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
  timeout: z.int(),
  attestation: z.literal('none'),
  excludeCredentials: z.array(Descriptor),
  authenticatorSelection: z.object({
    residentKey: z.enum(['preferred', 'required']),
    requireResidentKey: z.boolean(),
    userVerification: z.literal('required'),
  }),
})
export type CreationOptions = z.infer<typeof CreationOptions>

/** The argument of `navigator.credentials.get`. */
export const RequestOptions = z.object({
  rpId: z.string(),
  challenge: z.string(),
  timeout: z.int(),
  userVerification: z.literal('required'),
  allowCredentials: z.array(Descriptor),
})
export type RequestOptions = z.infer<typeof RequestOptions>

const named = { id: CredentialId, rawId: CredentialId, type: z.literal('public-key') }
const extensions = z.object({}).default({}).meta({ description: 'The outputs of extensions; they are not read.' })

/** The answer of a browser to creation options. */
export const Registration = z
  .object({
    ...named,
    response: z.object({
      clientDataJSON: base64url(8_192),
      attestationObject: base64url(16_384),
      transports: Transports.default([]),
    }),
    clientExtensionResults: extensions,
  })
  .meta({ description: 'The new credential, as `toJSON` of the browser writes it.' })
export type Registration = z.infer<typeof Registration>

/** The answer of a browser to request options. */
export const Assertion = z
  .object({
    ...named,
    response: z.object({
      clientDataJSON: base64url(8_192),
      authenticatorData: base64url(8_192),
      signature: base64url(2_048),
      userHandle: base64url(86)
        .nullish()
        .transform((handle) => handle ?? undefined),
    }),
    clientExtensionResults: extensions,
  })
  .meta({ description: 'The assertion, as `toJSON` of the browser writes it.' })
export type Assertion = z.infer<typeof Assertion>

export const EXAMPLE_CHALLENGE = 'o7E1mYtD9nQ0o0fXl1mY7b7C3i2kqf3nWm3XJQ2hV3c'

export const EXAMPLE_CREATION: CreationOptions = {
  rp: { id: 'panel.example', name: 'ops-panel (panel.example)' },
  user: { id: 'XJq0l6uY2mE1nH0S9dVg4w', name: 'alice', displayName: 'alice' },
  challenge: EXAMPLE_CHALLENGE,
  pubKeyCredParams: [
    { type: 'public-key', alg: -7 },
    { type: 'public-key', alg: -8 },
    { type: 'public-key', alg: -257 },
  ],
  timeout: 240_000,
  attestation: 'none',
  excludeCredentials: [],
  authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'required' },
}

export const EXAMPLE_REQUEST: RequestOptions = {
  rpId: 'panel.example',
  challenge: EXAMPLE_CHALLENGE,
  timeout: 240_000,
  userVerification: 'required',
  allowCredentials: [],
}

const EXAMPLE_ID = 'dGhpcyBpcyBhIGNyZWRlbnRpYWw'

export const EXAMPLE_REGISTRATION = {
  id: EXAMPLE_ID,
  rawId: EXAMPLE_ID,
  type: 'public-key' as const,
  response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0', attestationObject: 'o2NmbXRkbm9uZQ' },
}

export const EXAMPLE_ASSERTION = {
  id: EXAMPLE_ID,
  rawId: EXAMPLE_ID,
  type: 'public-key' as const,
  response: {
    clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
    authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
    signature: 'MEUCIQDx',
    userHandle: 'XJq0l6uY2mE1nH0S9dVg4w',
  },
}

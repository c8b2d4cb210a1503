import * as z from 'zod'
import { CreationOptions, RequestOptions } from '../../../functions/factors/passkey-shapes.ts'
import type { testApp } from '../../app.ts'
import { type Authenticator, createAuthenticator } from '../../authenticator.ts'
import { answered } from '../answers.ts'
import { signedBy } from './person.ts'

export type App = Awaited<ReturnType<typeof testApp>>

/** The address of the panel in these tests. */
export const PANEL = 'https://panel.example'
export const ENV = { PANEL_PUBLIC_URL: PANEL }

export const Begun = z.object({ challenge: z.string(), options: CreationOptions })
const Added = z.object({
  factor: z.object({ id: z.number(), kind: z.literal('passkey'), name: z.string() }),
  recovery_codes: z.array(z.string()).optional(),
})

/** Asks for the creation options of a passkey. */
export async function beginPasskey(app: App, token: string): Promise<z.infer<typeof Begun>> {
  const headers = signedBy(token)
  return Begun.parse(await answered(await app.request('POST', '/api/auth/factors/passkeys/options', { headers }), 200))
}

/** Enrols a passkey of an authenticator. */
export async function enrolPasskey(
  app: App,
  token: string,
  {
    authenticator = createAuthenticator({ origin: PANEL }),
    name = 'Portable',
  }: { authenticator?: Authenticator; name?: string } = {},
) {
  const { challenge, options } = await beginPasskey(app, token)
  const body = { challenge, name, response: authenticator.create(options) }
  const response = await app.request('POST', '/api/auth/factors/passkeys', { headers: signedBy(token), body })
  const { factor, recovery_codes: codes = [] } = Added.parse(await answered(response, 200))
  return { authenticator, id: factor.id, codes }
}

const Asked = z.object({
  code: z.enum(['factor_required', 'factor_proof_required']),
  challenge: z.string(),
  factors: z.array(z.string()),
  passkey: RequestOptions,
})

/** Reads the question to a passkey out of a refusal. */
export async function askedPasskey(response: Response): Promise<z.infer<typeof Asked>> {
  return Asked.parse(await response.json())
}

/** Answers a challenge of a sign-in by an assertion. */
export function answerByPasskey(app: App, challenge: string, assertion: unknown): Promise<Response> {
  answers += 1
  const from = `203.0.114.${answers % 250}`
  const body = { challenge, factor: 'passkey', assertion }
  return app.request('POST', '/api/auth/login/answers', { body, from })
}
let answers = 0

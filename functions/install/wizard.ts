import * as z from 'zod'
import { escapeControl } from '../../platform/escape-control.ts'
import type { Failure } from '../../runtime/errors.ts'
import { type SshAccount, SshHost, SshPassword, SshUsername } from '../../ssh/ssh.ts'
import type { Settings } from '../services.ts'
import type { SetupToken } from './setup-token.ts'

/** The body of the setup requests, with the token from the console. */
export const SetupBody = z.object({
  // A missing token counts as a wrong one.
  setup_token: z.string().max(200).default(''),
  ssh_host: SshHost,
  ssh_username: SshUsername,
  auth: z.enum(['password', 'key']).default('password').meta({
    description: 'How the service account signs in: by its password, or by the key that the wizard has made.',
  }),
  ssh_password: SshPassword.default('').meta({
    description:
      'The password of the service account. With a key it may be empty; sudo and hosts that refuse the key get it.',
  }),
})

/** A password in the documents: as `SshPassword`, and not empty. */
const GIVEN_PASSWORD = {
  type: 'string',
  minLength: 1,
  maxLength: 1_024,
  pattern: '^[^\\u0000]*$',
  description: 'The password of the service account.',
} as const

const KEY = { type: 'string', const: 'key' } as const

/**
 * Refuses a body that lacks the password with which the account shall sign in. The documents show the two bodies: one
 * with a password, and one with `auth` `key`.
 */
export function withPassword<body extends z.ZodType<{ auth: string; ssh_password: string }>>(body: body) {
  return body
    .superRefine(({ auth, ssh_password }, { addIssue }) => {
      if (auth === 'password' && ssh_password === '')
        addIssue({ code: 'custom', path: ['ssh_password'], message: 'le mot de passe du compte de service' })
    })
    .meta({
      override({ jsonSchema }) {
        const { properties, required = [], ...rest } = jsonSchema
        for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key)
        const either = (name: string, schema: typeof GIVEN_PASSWORD | typeof KEY) => ({
          ...rest,
          properties: { ...properties, [name]: schema },
          required: [...required, name],
        })
        jsonSchema.anyOf = [either('ssh_password', GIVEN_PASSWORD), either('auth', KEY)]
      },
    })
}

/** Returns the secrets with which the account signs in. Throws `ssh_key_missing` before the wizard has made a key. */
export async function secretsOf(
  { auth, ssh_password: password }: Pick<z.output<typeof SetupBody>, 'auth' | 'ssh_password'>,
  { settings }: { settings: Settings },
  fail: (code: 'ssh_key_missing') => Failure,
): Promise<Pick<SshAccount, 'password' | 'key'>> {
  if (auth === 'password') return { password }
  const { next } = await settings.sshKeys()
  if (!next) throw fail('ssh_key_missing')
  return { password, key: next.privateKey }
}

/** The example of the documents. */
export const EXAMPLE_SETUP: z.input<typeof SetupBody> = {
  setup_token: 'k3x9q2pa7m5v1c8z',
  ssh_host: 'pve1.example',
  ssh_username: 'panel',
  ssh_password: 'correct horse battery staple',
}

/** Refuses setup requests once a host is configured, before any other check of the request. */
export async function notInstalled(
  { settings }: { settings: Settings },
  fail: (code: 'already_installed') => Failure,
): Promise<void> {
  if (await settings.hasSshHost()) throw fail('already_installed')
}

export async function mayInstall(
  { setupToken }: { setupToken: SetupToken },
  given: string,
  fail: (code: 'setup_token_wrong') => Failure,
): Promise<void> {
  if (!(await setupToken.matches(given))) throw fail('setup_token_wrong')
}

/** Formats a check as one line for a terminal, and escapes control characters in the host's text. */
export function describeCheck({ ok, optional, message }: { ok: boolean; optional?: boolean; message: string }): string {
  return `${ok ? '✓' : optional ? '•' : '✗'} ${escapeControl(message)}`
}

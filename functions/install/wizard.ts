import * as z from 'zod'
import type { Failure } from '../../runtime/errors.ts'
import type { Settings } from '../../runtime/settings.ts'
import type { SetupToken } from '../../runtime/setup-token.ts'
import { visible } from '../../runtime/visible.ts'
import { SshHost, SshPassword, SshUsername } from '../settings/fields.ts'

/** The fingerprint of a host's key, as the check shows it: a person compares it, and sends it back. */
export const HostKey = z.string().meta({
  id: 'HostKey',
  description: 'The fingerprint of a host’s key, as `ssh-keygen -l` writes it.',
  examples: ['SHA256:3nMTmQGFJEoUVmPlCsXRMcYzHxAUBNYlF0ZOZsQm7Fc'],
  override: { pattern: '^([\\w@.-]+ )?SHA256:[A-Za-z0-9+/]{43}$' },
})

/** What the wizard asks for, beside the token of the console. */
export const SetupBody = z.object({
  // Without one it is a wrong one.
  setup_token: z.string().max(200).default(''),
  ssh_host: SshHost,
  ssh_username: SshUsername,
  ssh_password: SshPassword.min(1, 'le mot de passe du compte de service'),
})

/** One, for the documents. */
export const EXAMPLE_SETUP: z.input<typeof SetupBody> = {
  setup_token: 'k3x9q2pa7m5v1c8z',
  ssh_host: 'pve1.example',
  ssh_username: 'panel',
  ssh_password: 'correct horse battery staple',
}

/** Before anything else of a request is looked at: once there is a host, the wizard has had its time. */
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

/** One line for a person at a terminal; what the host has said of itself stays in it. */
export function describeCheck({ ok, optional, message }: { ok: boolean; optional?: boolean; message: string }): string {
  return `${ok ? '✓' : optional ? '•' : '✗'} ${visible(message)}`
}

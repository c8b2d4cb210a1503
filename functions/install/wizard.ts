import * as z from 'zod'
import { escapeControl } from '../../platform/escape-control.ts'
import type { Failure } from '../../runtime/errors.ts'
import { SshHost, SshPassword, SshUsername } from '../../ssh/ssh.ts'
import type { Settings } from '../services.ts'
import type { SetupToken } from './setup-token.ts'

/** The body of the setup requests, with the token from the console. */
export const SetupBody = z.object({
  // A missing token counts as a wrong one.
  setup_token: z.string().max(200).default(''),
  ssh_host: SshHost,
  ssh_username: SshUsername,
  ssh_password: SshPassword.min(1, 'le mot de passe du compte de service'),
})

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

import * as z from 'zod'
import { type Answer, ask, login } from './client.ts'
import { inside, PASSWORDS } from './rig.ts'
import type { Address } from './service.ts'

/** The code that the host's PAM accepts after the password. */
export const CODE = '424242'
/** sshd asks by PAM's own prompts alone. */
export const BY_PROMPTS = ['PasswordAuthentication no', 'KbdInteractiveAuthentication yes']

/**
 * A second factor made of Debian's own PAM modules: pam_ftp asks a question and keeps the answer, which a program checks.
 * root, the service account, is not asked.
 */
const INSTALL = `
printf '%s\\n' '#!/bin/sh' '[ "$(tr -d "\\0")" = ${CODE} ]' >/usr/local/sbin/check-code
chmod 755 /usr/local/sbin/check-code
sed -i '/^@include common-auth/a auth [success=3 default=ignore] pam_succeed_if.so quiet user = root\\
auth optional pam_echo.so Verification code for %u\\
auth optional pam_ftp.so\\
auth required pam_exec.so expose_authtok /usr/local/sbin/check-code' /etc/pam.d/sshd`

/** Makes the host ask everybody but root for a code after the password, until the next reset. */
export async function askForCode(run: (script: string) => Promise<unknown> = (script) => inside('host', script)) {
  await run(INSTALL)
}

const Asked = z.strictObject({
  error: z.string(),
  code: z.enum(['more_asked', 'proof_more_asked']),
  challenge: z.string(),
  prompts: z.array(z.strictObject({ text: z.string(), echo: z.boolean() })),
})

/** Returns what the host asks, by the answer of the service; throws for any other answer. */
export function askedBy({ status, body }: Answer): z.infer<typeof Asked> {
  const asked = Asked.safeParse(body)
  if (!asked.success) throw new Error(`nothing is asked: ${status} ${JSON.stringify(body)}`)
  return asked.data
}

/** Signs in by password, up to the question of the host. */
export async function askedAfterPassword(service: Address, account: keyof typeof PASSWORDS, address?: string) {
  return askedBy(await login(service, account, PASSWORDS[account], address))
}

/** Answers the questions of the host. */
export function answerTo(service: Address, challenge: string, ...answers: string[]): Promise<Answer> {
  return ask(service, 'POST', '/api/auth/login/answers', { challenge, answers })
}

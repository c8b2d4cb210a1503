/*
 * One-time passwords by RFC 6238 as every authenticator makes them: SHA-1, six digits, steps of 30 s. A code is accepted
 * of the present step and of its two neighbours, for clocks that differ.
 */
import * as z from 'zod'

const STEP_SECONDS = 30

/** A code as people type it; spaces within it are ignored. */
export const TotpCode = z
  .string()
  .max(20)
  .meta({ description: 'Six digits.', examples: ['287082'] })

/** Makes a secret of 160 bits, in base32, and its address for authenticators. `account` is what they show. */
export async function newTotp(account: string): Promise<{ secret: string; uri: string }> {
  const { generateSecret, generateURI } = await import('otplib')
  const secret = generateSecret({ length: 20 })
  return { secret, uri: generateURI({ issuer: 'ops-panel', label: account, secret, period: STEP_SECONDS }) }
}

/** Returns the step of the code, or undefined when it is wrong or its step is not after `lastStep`. */
export async function stepOf(
  { secret, code }: { secret: string; code: string },
  now: Date,
  lastStep = 0,
): Promise<number | undefined> {
  const token = code.replaceAll(/\s/g, '')
  if (!/^[0-9]{6}$/.test(token)) return undefined
  const { verify } = await import('otplib')
  const result = await verify({
    secret,
    token,
    period: STEP_SECONDS,
    epoch: Math.floor(now.getTime() / 1000),
    epochTolerance: STEP_SECONDS,
    afterTimeStep: lastStep,
  })
  return result.valid && 'timeStep' in result ? result.timeStep : undefined
}

/** The name under which a user's secrets are sealed. */
export function totpSecret(userId: number): string {
  return `totp ${userId}`
}

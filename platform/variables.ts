import { createPrivateKey } from 'node:crypto'
import * as z from 'zod'
import { linkProblems } from './links.ts'

// Schemas of the texts of environment variables. Their issues say what is expected, in French.

/** Items separated by commas. */
export const list = z.string().transform((text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)

/** Groups of the host. No name of a group contains these characters, which separate others in the lists of operators. */
export const groupList = list.refine(
  (names) => !names.some((name) => /[:;]/.test(name)),
  'des groupes de l’hôte, séparés par des virgules',
)

export const onOff = z.enum(['on', 'off'], 'on ou off').transform((value) => value === 'on')

export const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text)

/** Addresses are shown and logged, so no secret may be in them. libSQL reads this query parameter as its token. */
export const SECRET_PARAMETERS = ['authToken']
export function integerText(min: number, max: number) {
  const expected = `un nombre entier de ${min} à ${max}`
  return z
    .string()
    .regex(/^\d{1,9}$/, expected)
    .transform(Number)
    .refine((n) => n >= min && n <= max, expected)
}

export function dataUrl() {
  const expected = 'une adresse http: ou https: sans identifiants'
  return z
    .string()
    .refine((text) => linkProblems(text, { notation: 'prefix', secrets: SECRET_PARAMETERS }).length === 0, expected)
}

export function isRsaKey(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem)
    const bits = asymmetricKeyDetails?.modulusLength ?? 0
    return asymmetricKeyType === 'rsa' && bits >= 2048 && pem.includes('-----BEGIN PRIVATE KEY-----')
  } catch {
    return false
  }
}

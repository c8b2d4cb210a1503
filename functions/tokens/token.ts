import * as z from 'zod'
import type { ApiTokenRow, NewApiToken } from '../../db/access/api-tokens.ts'
import { timestamp } from '../../platform/clock.ts'
import { type AuditNote, ROLES, type Targets, type User } from '../../runtime/context.ts'
import { documentedAs } from '../../runtime/input.ts'
import { tokenRights } from '../../sessions/sessions.ts'

/** The most tokens of one user that have not expired. */
export const MOST_TOKENS = 50
const DAY_MS = 86_400_000
const DEFAULT_DAYS = 90
const MOST_DAYS = 400
/** A token's targets are in each answer of its list. */
const MOST_TARGETS = 200
/** Longest list of targets in an audit entry, in characters. */
const TOLD = 200

/** The id of an API token. */
const TokenId = z
  .int()
  .positive()
  .meta({ id: 'TokenId', description: 'Names an API token. It is no secret.', examples: [3] })

/** The id in an address. Text that is not a number means a token that does not exist. */
export const GivenTokenId = documentedAs(TokenId, z.string())

const TokenTargets = z.union([
  z.literal('all'),
  z
    .array(z.string().regex(/^(host|lxc:[1-9]\d{0,8})$/, '« host » ou « lxc:<numéro> »'))
    .min(1)
    .max(MOST_TARGETS),
])

/** A name without characters that a terminal or a page would not show. */
export const TokenName = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(/^[^\p{Cc}\p{Cf}\p{Z}][^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'un nom sans caractères invisibles')

export const NewToken = z.strictObject({
  name: TokenName,
  role: z.enum(ROLES),
  targets: TokenTargets.meta({ description: 'The targets that it reads and works on: all, or these only.' }),
  expires_in_days: z.int().min(1).max(MOST_DAYS).optional(),
  expires_at: z.iso
    .datetime({ offset: true })
    .nullable()
    .optional()
    .meta({ description: `At most ${MOST_DAYS} days from now; null for a token that never expires.` }),
})
type NewToken = z.infer<typeof NewToken>

/** A token as its owner and administrators see it: everything but the token itself. */
export const Token = z.object({
  id: TokenId,
  username: z.string().meta({ description: 'Its owner.' }),
  name: z.string(),
  role: z.enum(ROLES),
  targets: z.union([z.literal('all'), z.array(z.string())]),
  effective_role: z.enum(ROLES).nullable().meta({
    description:
      'The lesser of its own role and that of its owner; null for a token that is refused, because it has expired, its owner is barred, or the host does not confirm the owner.',
  }),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  last_used_at: z.string().nullable().meta({ description: 'To the minute.' }),
  last_ip: z.string().nullable(),
})

export const EXAMPLE_TOKEN_ROW = {
  id: 3,
  username: 'alice',
  name: 'Supervision',
  role: 'viewer',
  targets: 'all',
  effective_role: 'viewer',
  created_at: '2026-03-01T12:00:00.000Z',
  expires_at: '2026-05-30T12:00:00.000Z',
  last_used_at: null,
  last_ip: null,
} as const

export function shownToken(row: ApiTokenRow, now: Date): z.infer<typeof Token> {
  const { id, username, name, role, targets, created_at, expires_at, last_used_at, last_ip } = row
  const effective_role = tokenRights(row, now)?.role ?? null
  return { id, username, name, role, targets, effective_role, created_at, expires_at, last_used_at, last_ip }
}

/** Whether a token could do more than its owner may now. */
export function exceeds(
  { role, operates }: Pick<User, 'role' | 'operates'>,
  wanted: Pick<NewToken, 'role' | 'targets'>,
): boolean {
  if (ROLES.indexOf(wanted.role) > ROLES.indexOf(role)) return true
  // Everybody reads everything: only what a token works on is bounded.
  return wanted.role !== 'viewer' && !covers(operates, wanted.targets)
}

function covers(operates: Targets, wanted: Targets): boolean {
  return operates === 'all' || (wanted !== 'all' && wanted.every((target) => operates.includes(target)))
}

/** When a new token expires, null for never; undefined for a time that is past or too far away. */
export function expiryOf(
  { expires_in_days = DEFAULT_DAYS, expires_at }: Pick<NewToken, 'expires_in_days' | 'expires_at'>,
  now: Date,
): string | null | undefined {
  if (expires_at === null) return null
  const from = now.getTime()
  const at = expires_at === undefined ? from + expires_in_days * DAY_MS : Date.parse(expires_at)
  return at > from && at <= from + MOST_DAYS * DAY_MS ? timestamp(new Date(at)) : undefined
}

/** A token as the audit log tells of it. */
export function toldToken({
  name,
  role,
  targets,
  expires_at,
}: Pick<NewApiToken, 'name' | 'role' | 'targets' | 'expires_at'>): AuditNote & { details: object } {
  const told = targets === 'all' ? targets : targets.join(',')
  return {
    target: name,
    details: { role, targets: told.length > TOLD ? `${told.slice(0, TOLD)}…` : told, expires_at },
  }
}

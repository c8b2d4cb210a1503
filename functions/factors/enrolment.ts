import * as z from 'zod'
import { isLostClaim } from '../../db/access/claims.ts'
import {
  expectingNewestFactor,
  expectingNoFactor,
  type ListedFactor,
  listFactors,
  nextFactorId,
  replacingRecoveryCodes,
} from '../../db/access/factors.ts'
import { onlyIf, withCount } from '../../db/audit.ts'
import type { Statement } from '../../db/libsql/database.ts'
import type { User } from '../../runtime/context.ts'
import type { Context, ErrorCode } from '../services.ts'
import { onceOnly } from './challenges.ts'
import { newRecoveryCodes, RecoveryCodes } from './recovery-codes.ts'

/** Factors of one user: more than anybody carries. */
export const MOST_FACTORS = 10

/** The name that people give a factor, to know it in the list. */
export const FactorName = z
  .string()
  .trim()
  .min(1)
  .max(60)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u, 'un nom sans caractères invisibles')
  .meta({ examples: ['Téléphone'] })

/** The id of a factor, as `GET /api/auth/factors` lists it. */
export const FactorId = z
  .int()
  .positive()
  .meta({ id: 'FactorId', description: 'Names a second factor.', examples: [3] })

/** A second factor as its owner sees it. */
export const Factor = z
  .object({
    id: FactorId,
    kind: z.enum(['totp', 'passkey']),
    name: z.string(),
    created_at: z.string(),
    last_used_at: z.string().nullable(),
  })
  .meta({ id: 'Factor' })

export const EXAMPLE_FACTOR = {
  id: 3,
  kind: 'totp',
  name: 'Téléphone',
  created_at: '2026-03-01T12:00:00.000Z',
  last_used_at: null,
} as const

/** The answer to an enrolment. */
export const Enrolled = z.object({ factor: Factor, recovery_codes: RecoveryCodes.optional() })

export const ENROLMENT_ERRORS = ['factors_full', 'challenge_over'] as const satisfies readonly ErrorCode[]
export const ENROLMENT_ACTIONS = ['factor_add', 'recovery_codes_made', 'sessions_ended'] as const

type Given = Pick<
  Context<undefined, (typeof ENROLMENT_ERRORS)[number], (typeof ENROLMENT_ACTIONS)[number]>,
  'db' | 'auditEntry' | 'fail' | 'config' | 'sessions'
>

/** Throws `factors_full` for a caller who has the most factors already. */
export async function expectRoom({
  db,
  user,
  fail,
}: Pick<Context<Pick<User, 'id' | 'username'>, 'factors_full', never>, 'db' | 'user' | 'fail'>): Promise<void> {
  if ((await listFactors(db, user.id)).length >= MOST_FACTORS)
    throw fail('factors_full', { values: { most: MOST_FACTORS } })
}

/**
 * Stores a factor of `user` by `statements`, which also use its challenge up, with its audit entry; with the user's first
 * factor, ten recovery codes too. Where a factor is required, the first one ends all sessions but the caller's: somebody
 * who knows the password may have opened one, which the factor of its owner would free. Nothing is read after the transaction:
 * the codes must arrive whatever happens then.
 */
export async function enrol(
  context: Given,
  user: Pick<User, 'id' | 'username'> & { sid?: string },
  { kind, name, created_at }: Pick<ListedFactor, 'kind' | 'name' | 'created_at'>,
  statements: readonly Statement[],
): Promise<z.infer<typeof Enrolled>> {
  const { db, auditEntry, fail, config } = context
  await expectRoom({ db, user, fail })
  const isFirst = (await listFactors(db, user.id)).length === 0
  const made = isFirst ? newRecoveryCodes() : undefined
  const told = made && [...replacingRecoveryCodes(user.id, made.hashes), auditEntry('recovery_codes_made', { user })]
  const added = auditEntry('factor_add', { user, target: user.username, details: { kind, name } })
  // Of two first factors at the same time only one has recovery codes that count, and one session that stays.
  const first = isFirst ? [expectingNoFactor(user.id)] : []
  const isEnding = isFirst && config.requireFactor !== 'off'
  const id = await withNextId(db, (next) => {
    const changes = [...first, ...statements, expectingNewestFactor(next), added, ...(told ?? [])]
    return isEnding ? endOthers(context, user, changes) : db.batch(changes)
  })
  return { factor: { id, kind, name, created_at, last_used_at: null }, ...(made && { recovery_codes: made.codes }) }
}

/** Returns the id with which a transaction succeeded; it is repeated where somebody else's factor got that id. */
async function withNextId(db: Given['db'], transaction: (id: number) => Promise<unknown>): Promise<number> {
  const id = await nextFactorId(db)
  try {
    await transaction(id)
    return id
  } catch (error) {
    if (isLostClaim(error) && (await nextFactorId(db)) !== id) return withNextId(db, transaction)
    return onceOnly<never>(Promise.reject(error))
  }
}

function endOthers(
  { sessions, auditEntry }: Given,
  user: Pick<User, 'id' | 'username'> & { sid?: string },
  changes: readonly Statement[],
): Promise<number> {
  const choice = { userId: user.id, ...(user.sid !== undefined && { except: Number(user.sid) }) }
  return sessions.end(choice, (count) => [
    ...changes,
    onlyIf(withCount(auditEntry('sessions_ended', { user, target: user.username }), 'sessions', count), count),
  ])
}

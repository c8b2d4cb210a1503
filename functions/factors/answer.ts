import * as z from 'zod'
import {
  countFactorAnswer,
  forgettingAnswers,
  hasRecoveryCode,
  readTotps,
  usingRecoveryCode,
  usingStep,
} from '../../db/access/factors.ts'
import type { Statement } from '../../db/libsql/database.ts'
import { timestamp } from '../../platform/clock.ts'
import { SecretError } from '../../platform/secrets.ts'
import { fail, type Services } from '../services.ts'
import { type Challenge, countChallengeAnswer } from './challenges.ts'
import type { FactorKind } from './codes.ts'
import { Assertion } from './passkey-shapes.ts'
import { type PasskeyQuestion, verifyAssertion } from './passkeys.ts'
import { recoveryHash } from './recovery-codes.ts'
import { stepOf, totpSecret } from './totp.ts'

/** An answer by a code: of an authenticator, or a recovery code. */
export const CodeAnswer = z.object({
  factor: z.enum(['totp', 'recovery']),
  answers: z.array(z.string().max(100)).length(1).meta({ description: 'The code.' }),
})

/** An answer by a passkey. */
export const PasskeyAnswer = z.object({ factor: z.literal('passkey'), assertion: Assertion })

export type FactorAnswer = z.infer<typeof CodeAnswer> | z.infer<typeof PasskeyAnswer>

/** Answers of one user to all factors together. */
const ANSWER_LIMIT = { limit: 5, seconds: 60, by: 'user', shared: true } as const
/** Wrong answers in a row that lock a kind of factor, and for how long; an hour without one ends the row. */
const MOST_WRONG = 10
const HOUR_MS = 3_600_000
/** The clocks of two instances may differ by less than this. */
const SKEW_MS = 5 * 60_000

/** A correct answer, with the statements for the transaction of what it allows; or why it is refused, for the audit log. */
export type Checked = { statements: Statement[] } | { refused: string }

/**
 * Checks the answer of a user's second factor, which counts against the limits of the user, of the kind of factor and of
 * the challenge before it is looked at. Throws `factor_locked` or `challenge_over` without a check.
 */
export async function checkAnswer(
  services: Services,
  {
    userId,
    answer,
    challenge,
  }: {
    userId: number
    answer: FactorAnswer
    /** The answered challenge; a code is accepted without one from a caller who is signed in. */
    challenge?: Challenge<{ question?: PasskeyQuestion | undefined }> | undefined
  },
): Promise<Checked> {
  const kind = answer.factor
  await countAnswer(services, { userId, kind, byAnybody: challenge?.userId === null })
  if (challenge) await countChallengeAnswer(services, challenge)
  const checked = await check(services, userId, answer, challenge?.data.question)
  if ('refused' in checked) return checked
  return { statements: [...checked.statements, forgettingAnswers({ userId, kind })] }
}

async function check(
  services: Services,
  userId: number,
  answer: FactorAnswer,
  question: PasskeyQuestion | undefined,
): Promise<Checked> {
  const { db, clock } = services
  const now = clock()
  if (answer.factor === 'passkey') {
    if (!question) return { refused: 'not_asked' }
    const { flaw, ...asserted } = await verifyAssertion(services, { question, userId }, answer.assertion)
    return 'statements' in asserted ? asserted : { refused: flaw ?? 'wrong' }
  }
  const [code = ''] = answer.answers
  if (answer.factor === 'recovery') {
    const hash = recoveryHash(code)
    if (!(await hasRecoveryCode(db, userId, hash))) return { refused: 'wrong' }
    return { statements: usingRecoveryCode(userId, hash, timestamp(now)) }
  }
  for (const { id, secret_sealed, last_step } of await readTotps(db, userId)) {
    const secret = openedSecret(services, userId, secret_sealed)
    const step = secret === undefined ? undefined : await stepOf({ secret, code }, now, last_step)
    if (step !== undefined) return { statements: usingStep(id, step, timestamp(now)) }
  }
  return { refused: 'wrong' }
}

/** Undefined for a secret that another key has sealed: that authenticator answers nothing, and the other factors remain. */
function openedSecret({ secrets, log }: Services, userId: number, sealed: string): string | undefined {
  try {
    return secrets.open(totpSecret(userId), sealed)
  } catch (error) {
    if (!(error instanceof SecretError)) throw error
    log.error(
      { userId, err: error },
      'the secret of an authenticator cannot be decrypted: its owner needs ops-panel factors reset',
    )
    return undefined
  }
}

/** Throws `factor_locked` where the user has answered too often. */
async function countAnswer(
  { db, clock, limiter }: Services,
  { userId, kind, byAnybody }: { userId: number; kind: FactorKind; byAnybody: boolean },
): Promise<void> {
  const refuse = (waitMs: number) => {
    const seconds = Math.max(1, Math.ceil(waitMs / 1000))
    return fail('factor_locked', { retryAfter: seconds, values: { seconds } })
  }
  // Anybody who knows the id of a passkey can answer without a password, so that takes nothing from other factors.
  const wait = await limiter.admit(byAnybody ? 'passkey sign-ins' : 'factor answers', String(userId), ANSWER_LIMIT)
  if (wait > 0) throw refuse(wait)
  const now = clock().getTime()
  const at = (ms: number) => timestamp(new Date(ms))
  const [since, lockedUntil, ahead] = [at(now - HOUR_MS), at(now + HOUR_MS), at(now + HOUR_MS + SKEW_MS)]
  const times = { now: at(now), since, lockedUntil, ahead, most: MOST_WRONG }
  const locked = await countFactorAnswer(db, { userId, kind }, times)
  if (locked !== undefined) throw refuse(Date.parse(locked) - now)
}

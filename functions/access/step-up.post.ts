import * as z from 'zod'
import { MUST_CHANGE } from '../../db/access/claims.ts'
import type { Statement } from '../../db/libsql/database.ts'
import { provenSession, type ProvenBy } from '../../db/sessions.ts'
import { timestamp } from '../../platform/clock.ts'
import type { AuditNote, User } from '../../runtime/context.ts'
import { EXAMPLE_TOKEN, WRITES } from '../../runtime/function.ts'
import { ACCESS_SECONDS } from '../../sessions/sessions.ts'
import { rightsForToken } from '../auth/host-account.ts'
import { answerProof, PROOF_ANSWER_ERRORS, PromptAnswers, proofAsked } from '../auth/prompts.ts'
import { CurrentPassword, PROOF_ERRORS, provePassword } from '../auth/proof.ts'
import { checkAnswer, CodeAnswer, type FactorAnswer, PasskeyAnswer } from '../factors/answer.ts'
import { ChallengeId, findChallenge, onceOnly, useChallenge, wrongAnswer } from '../factors/challenges.ts'
import { PasskeyQuestion } from '../factors/passkeys.ts'
import { askFactor, mustEnrol } from '../factors/second-factor.ts'
import { type Context, defineFunction } from '../services.ts'

const ERRORS = [
  ...PROOF_ERRORS,
  ...PROOF_ANSWER_ERRORS,
  'factor_proof_required',
  'user_missing',
  'session_ended',
  'factor_wrong',
  'factor_locked',
] as const
const ACTIONS = ['step_up', 'step_up_refused', 'account_ended', 'rights_changed'] as const

/** The data of a challenge of a step-up. It is for the session that asked for it, not for another one of the user. */
const Pending = z.object({ sid: z.string(), question: PasskeyQuestion.optional() })

export default defineFunction({
  method: 'POST',
  path: '/api/auth/step-up',
  summary: 'Prove again who the caller is',
  description:
    'Notes a new proof in the session, and returns an access token that has it. Where the caller has a second factor, the password is refused with `factor_proof_required`, which tells the challenge and the kinds of factor that are accepted; a request without any proof asks for the same. A code needs no challenge. A host that asks more than the password does so with `proof_more_asked`.',
  auth: 'user',
  credential: 'session',
  whileEnrolling: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: ACTIONS,
  request: {
    body: z.union([
      CodeAnswer,
      z.object({ challenge: ChallengeId, ...PasskeyAnswer.shape, factor: PasskeyAnswer.shape.factor.optional() }),
      PromptAnswers,
      z.object({ password: CurrentPassword.optional() }),
    ]),
  },
  response: z.object({ access_token: z.string(), expires_in: z.literal(ACCESS_SECONDS) }),
  example: {
    body: { factor: 'totp', answers: ['287082'] },
    response: { access_token: EXAMPLE_TOKEN, expires_in: ACCESS_SECONDS },
  },
  errors: ERRORS,

  async handler({ body }, context) {
    const { user, audit, fail } = context
    if ('factor' in body && 'answers' in body) return byFactor(context, body)
    if ('assertion' in body) return byFactor(context, { factor: 'passkey', assertion: body.assertion }, body.challenge)
    const asked = await askFactor(context, { userId: user.id, purpose: 'step_up', data: { sid: user.sid } })
    if (asked) throw fail('factor_proof_required', { more: asked })
    const noteRefusal = (note: AuditNote) => audit('step_up_refused', note)
    if ('answers' in body) {
      await answerProof(context, body, noteRefusal)
      return prove(context, 'host')
    }
    const prompts = await provePassword(body.password, context, noteRefusal, true)
    if (prompts) throw proofAsked(context, prompts)
    return prove(context, 'password')
  },
})

type Given = Context<User, (typeof ERRORS)[number], (typeof ACTIONS)[number]>

/** A code stands for itself; a passkey answers the question of a challenge. */
async function byFactor(context: Given, answer: FactorAnswer, id?: string) {
  const { user, audit, fail } = context
  const challenge =
    id === undefined ? undefined : await findChallenge(context, { id, purpose: 'step_up', userId: user.id }, Pending)
  if (challenge && challenge.data.sid !== user.sid) throw fail('challenge_over')
  const checked = await checkAnswer(context, { userId: user.id, answer, challenge })
  if ('refused' in checked) {
    const details = { reason: checked.refused, factor: answer.factor }
    await audit('step_up_refused', { details, isRefusal: true })
    throw challenge ? await wrongAnswer(context, challenge) : fail('factor_wrong')
  }
  const used = challenge ? useChallenge(context, challenge) : []
  return prove(context, answer.factor, [...used, ...checked.statements])
}

/**
 * Stores the proof in the row of the session, from which every later token has it. The token that is signed here has the
 * rights that the host tells now, as after a refresh: who proves all the time keeps no right that the host has taken away.
 */
async function prove(context: Given, by: ProvenBy, used: readonly Statement[] = []) {
  const { db, clock, user, sessions, caller, auditEntry, fail } = context
  const current = await rightsForToken(context, user.id, caller.address)
  if (typeof current === 'string') throw fail(current)
  const now = clock()
  const stored = provenSession(Number(user.sid), user.id, by, timestamp(now))
  await onceOnly(db.batch([stored, MUST_CHANGE, ...used, auditEntry('step_up', { details: { by } })]))
  const { id, sid } = user
  const enrolling = await mustEnrol(context, id, current.rights.role)
  const proven = now.getTime() / 1000
  const access_token = await sessions.accessToken({
    id,
    sid,
    enrolling,
    proven,
    username: current.username,
    ...current.rights,
  })
  return { access_token, expires_in: ACCESS_SECONDS }
}

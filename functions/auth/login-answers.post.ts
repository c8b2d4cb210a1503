import * as z from 'zod'
import { findHostAccount } from '../../db/users.ts'
import { ForeignPage } from '../../runtime/errors.ts'
import { checkAnswer, CodeAnswer, type FactorAnswer, PasskeyAnswer } from '../factors/answer.ts'
import { ChallengeId, findChallenge, onceOnly, useChallenge, wrongAnswer } from '../factors/challenges.ts'
import { type Context, defineFunction } from '../services.ts'
import { ENTRY_ACTIONS, openSession, SIGNED_IN_EXAMPLE, SignedIn } from './entry.ts'
import { PendingSignIn } from './finish.ts'
import { endAccount, recheckRights } from './host-account.ts'
import { ANSWER_ERRORS, answerPrompts, PromptAnswers } from './prompts.ts'

/** More than a person types, also where the host asks in several steps. */
const ANSWERS_LIMIT = { limit: 20, seconds: 60, by: 'address', shared: true } as const

const FACTOR_ANSWER_ERRORS = [
  'account_barred',
  'not_invited',
  'factor_wrong',
  'factor_locked',
  'challenge_over',
] as const

const ACTIONS = [...ENTRY_ACTIONS, 'rights_changed'] as const

export default defineFunction({
  method: 'POST',
  path: '/api/auth/login/answers',
  summary: 'Go on with a sign-in',
  description:
    'Answers what the sign-in asks beyond the password. Answers to the questions of the host (`more_asked`) come without `factor`, and must reach the same instance. `factor_required` tells the challenge and the kinds of second factor that are accepted: a code goes into `answers`, what a passkey says into `assertion`. Five wrong answers end a challenge; ten in a row lock the kind of factor for an hour.',
  auth: 'none',
  rateLimit: { ...ANSWERS_LIMIT, refusal: 'login_rate_limited', audit: 'login_rate_limited' },
  audit: ACTIONS,
  request: {
    body: z.union([
      z.object({ challenge: ChallengeId, ...CodeAnswer.shape }),
      z.object({ challenge: ChallengeId, ...PasskeyAnswer.shape }),
      PromptAnswers,
    ]),
  },
  response: SignedIn,
  headers: { 'set-cookie': 'The refresh token, only for `/api/auth/`.' },
  example: {
    body: { challenge: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM', factor: 'totp', answers: ['287082'] },
    response: SIGNED_IN_EXAMPLE,
  },
  errors: ['origin_forbidden', ...ANSWER_ERRORS, ...FACTOR_ANSWER_ERRORS],

  async handler({ body }, context) {
    const { caller, fail } = context
    // A page of another origin must not sign its visitors in as another user.
    if (caller.foreign !== undefined) throw fail('origin_forbidden', { cause: new ForeignPage(caller.foreign) })
    if (!('factor' in body)) return answerPrompts(context, body)
    const { challenge, ...answer } = body
    return answerFactor(context, challenge, answer)
  },
})

/** Opens the session of a sign-in that waits for its second factor. Throws one of `FACTOR_ANSWER_ERRORS`. */
async function answerFactor(
  context: Context<undefined, (typeof FACTOR_ANSWER_ERRORS)[number], (typeof ACTIONS)[number]>,
  id: string,
  answer: FactorAnswer,
): Promise<z.infer<typeof SignedIn>> {
  const { db, audit, caller, fail } = context
  const challenge = await findChallenge(context, { id, purpose: 'sign_in', userId: 'any' }, PendingSignIn)
  const user = { id: challenge.data.id, username: challenge.data.username }
  const refused = (reason: string) => audit('login_failed', { user, details: { reason, factor: answer.factor } })
  const findAccount = async () => {
    const account = await findHostAccount(db, user.id)
    if (account?.barred_at === null) return account
    await refused('barred')
    throw fail('account_barred')
  }
  // The account may have been barred since its password was accepted.
  const account = await findAccount()
  const checked = await checkAnswer(context, { userId: user.id, answer, challenge })
  if ('refused' in checked) {
    await refused(checked.refused)
    throw await wrongAnswer(context, challenge)
  }
  // The rights of the password may be five minutes old, and the token that is signed now lives fifteen.
  const rights = await recheckRights(context, account, caller.address)
  if (typeof rights === 'string' && rights !== 'barred') {
    await refused(rights)
    await endAccount(context, account, rights, { address: caller.address })
    throw fail(rights === 'uninvited' ? 'not_invited' : 'challenge_over')
  }
  // The host has taken its time: an end of all sessions meanwhile has not met this one.
  await findAccount()
  if (rights === 'barred') throw fail('account_barred')
  const more = [...useChallenge(context, challenge), ...checked.statements]
  return onceOnly(openSession(context, { ...user, rights }, { provenBy: answer.factor, more }))
}

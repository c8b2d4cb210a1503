import * as z from 'zod'
import { forgettingAnswers } from '../../db/access/factors.ts'
import { findPasskey } from '../../db/access/passkeys.ts'
import { findHostAccount } from '../../db/users.ts'
import { ENTRY_ACTIONS, ENTRY_ERRORS, openSession, SIGNED_IN_EXAMPLE, SignedIn } from '../auth/entry.ts'
import { PASSWORD_LIMIT } from '../auth/proof.ts'
import { checkAnswer } from '../factors/answer.ts'
import { SealedChallenge, countChallengeAnswer, findChallenge, onceOnly, useChallenge } from '../factors/challenges.ts'
import { Assertion, EXAMPLE_ASSERTION } from '../factors/passkey-shapes.ts'
import { PasskeyQuestion } from '../factors/passkeys.ts'
import { defineFunction } from '../services.ts'
import { confirmedRights, HOST_ERRORS } from './confirmed-rights.ts'
import { expectOffered, OFFER_ERRORS } from './offered.ts'

const Asked = z.object({ question: PasskeyQuestion })

export default defineFunction({
  method: 'POST',
  path: '/api/auth/login/passkey',
  summary: 'Sign in by passkey',
  description:
    'Signs in with a passkey and nothing else: the possession of it and what unlocks it are two factors. The host’s own PAM is not asked, so its service account must confirm the account: there, not locked, not expired, and in a group that may sign in. Needs `PANEL_PASSKEY_SIGN_IN=on`.',
  auth: 'none',
  rateLimit: { ...PASSWORD_LIMIT, refusal: 'login_rate_limited', audit: 'login_rate_limited' },
  audit: [...ENTRY_ACTIONS, 'rights_changed'],
  request: { body: z.object({ challenge: SealedChallenge, response: Assertion }) },
  response: SignedIn,
  headers: { 'set-cookie': 'The refresh token, only for `/api/auth/`.' },
  example: {
    body: { challenge: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM', response: EXAMPLE_ASSERTION },
    response: SIGNED_IN_EXAMPLE,
  },
  errors: [...OFFER_ERRORS, 'challenge_over', 'factor_locked', 'passkey_refused', ...HOST_ERRORS, ...ENTRY_ERRORS],

  async handler({ body: { challenge: id, response: assertion } }, context) {
    const { db, audit, fail } = context
    expectOffered(context)
    const challenge = await findChallenge(context, { id, purpose: 'passkey_sign_in', userId: null }, Asked)
    const owner = (await findPasskey(db, assertion.id))?.user_id
    const account = owner === undefined ? undefined : await findHostAccount(db, owner)
    const refuse = async (reason: string) => {
      await audit('login_failed', { ...(account && { user: account }), details: { factor: 'passkey', reason } })
      return fail('passkey_refused')
    }
    if (!account) {
      await countChallengeAnswer(context, challenge)
      throw await refuse('unknown_passkey')
    }
    const answer = { factor: 'passkey', assertion } as const
    const checked = await checkAnswer(context, { userId: account.id, answer, challenge })
    if ('refused' in checked) throw await refuse(checked.refused)
    // Nobody was asked for, so the authenticator must say whose passkey it has used.
    if (assertion.response.userHandle === undefined) throw await refuse('other_user')
    const rights = await confirmedRights(context, account).catch(async (error: unknown) => {
      // The answer was right: while the host is away, people who try again must not lock their passkeys.
      await db.batch([forgettingAnswers({ userId: account.id, kind: 'passkey' })])
      throw error
    })
    const admitted = { id: account.id, username: account.username, rights }
    const more = [...useChallenge(context, challenge), ...checked.statements]
    return onceOnly(openSession(context, admitted, { provenBy: 'passkey', more }))
  },
})

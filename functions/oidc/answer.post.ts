import * as z from 'zod'
import { type Failure, ForeignPage } from '../../runtime/errors.ts'
import { admit, ENTRY_ACTIONS, isNamelessTold, SIGNED_IN_EXAMPLE, SignedIn } from '../auth/entry.ts'
import { FINISH_ERRORS, finishSignIn } from '../auth/finish.ts'
import { resolveNamed } from '../auth/host-account.ts'
import { SealedChallenge, countChallengeAnswer, findChallenge, onceOnly, useChallenge } from '../factors/challenges.ts'
import { defineFunction } from '../services.ts'
import { accountOf, OidcError, Pending } from './provider.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/oidc/answer',
  summary: 'End a sign-in by OpenID Connect',
  description:
    'Takes the query with which the provider sent the browser back. The claim of `PANEL_OIDC_CLAIM` names the account of the host, which the service account must confirm: there, not expired, not root, and in a group that may sign in. Second factors of the panel are asked as after a password.',
  auth: 'none',
  isEnabled: ({ oidc }) => oidc !== undefined,
  rateLimit: { limit: 30, seconds: 60, by: 'address' },
  audit: ENTRY_ACTIONS,
  request: {
    body: z.object({
      challenge: SealedChallenge,
      answer: z.string().max(8_192).meta({ description: 'The query of the address, such as `?code=…&state=…`.' }),
    }),
  },
  response: SignedIn,
  headers: { 'set-cookie': 'The refresh token, only for `/api/auth/`.' },
  example: {
    body: {
      challenge: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM',
      answer: '?code=SplxlOBeZQQYbYS6WxSbIA&state=af0ifjsldkj',
    },
    response: SIGNED_IN_EXAMPLE,
  },
  errors: [
    'not_found',
    'origin_forbidden',
    'challenge_over',
    'oidc_denied',
    'oidc_invalid',
    'oidc_unreachable',
    'account_unusable',
    'account_kept_out',
    'host_silent',
    ...FINISH_ERRORS,
  ],

  async handler({ body: { challenge: id, answer } }, context) {
    const { config, db, clock, caller, audit, fail } = context
    if (!config.oidc) throw fail('not_found')
    if (caller.foreign !== undefined) throw fail('origin_forbidden', { cause: new ForeignPage(caller.foreign) })
    const challenge = await findChallenge(context, { id, purpose: 'oidc', userId: null }, Pending)
    await countChallengeAnswer(context, challenge)
    const refuse = async (reason: string, failure: Failure, username = '') => {
      const isTold = username !== '' || (await isNamelessTold(context, 'oidc answers of nobody'))
      if (isTold) await audit('login_failed', { user: { id: null, username }, details: { by: 'oidc', reason } })
      return failure
    }
    const { name, provenAt } = await accountOf(config.oidc, challenge.data, answer, clock).catch(
      async (error: unknown) => {
        throw error instanceof OidcError ? await refuse(error.reason, error.toFailure()) : error
      },
    )
    // The provider gives a code once; its answer is used up here, whatever the host says.
    await onceOnly(db.batch(useChallenge(context, challenge)))
    const entrant = await resolveNamed(context, name)
    const told = name.slice(0, 256)
    if (entrant === 'unconfirmed') throw await refuse(entrant, fail('host_silent'), told)
    if (entrant === 'unusable') throw await refuse(entrant, fail('account_unusable'), told)
    if (entrant.learnt.kept_out) throw await refuse('kept_out', fail('account_kept_out'), told)
    return finishSignIn(context, await admit(context, entrant), 'oidc', provenAt)
  },
})

import * as z from 'zod'
import { enrolledAtConsole, forgettingUid } from '../../db/access/passkeys.ts'
import { timestamp } from '../../platform/clock.ts'
import { endReplaced } from '../auth/entry.ts'
import { countChallengeAnswer, useChallenge } from '../factors/challenges.ts'
import {
  enrol,
  Enrolled,
  ENROLMENT_ACTIONS,
  ENROLMENT_ERRORS,
  EXAMPLE_FACTOR,
  FactorName,
} from '../factors/enrolment.ts'
import { newPasskey, PASSKEY_ERRORS } from '../factors/new-passkey.ts'
import { EXAMPLE_REGISTRATION, Registration } from '../factors/passkey-shapes.ts'
import { passkeyQuestion } from '../factors/passkeys.ts'
import { EXAMPLE_CODES } from '../factors/recovery-codes.ts'
import { defineFunction } from '../services.ts'
import { LINK_ERRORS, LinkCode, openLink } from './enrolment-link.ts'
import { expectOffered, OFFER_ERRORS } from './offered.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/enrol',
  summary: 'Add a passkey by a link of the console',
  description:
    'Adds the passkey that the browser has made for the account of the link, which is then used up. It opens no session: `POST /api/auth/login/passkey` does, by the new passkey. With the first factor come ten recovery codes, in this answer only. Needs `PANEL_PASSKEY_SIGN_IN=on`.',
  auth: 'none',
  rateLimit: { limit: 10, seconds: 60, by: 'address', refusal: 'login_rate_limited' },
  audit: [...ENROLMENT_ACTIONS, 'factor_refused', 'enrolment_link_used', 'account_ended'],
  request: { body: z.object({ code: LinkCode, name: FactorName, response: Registration }) },
  response: Enrolled.extend({ username: z.string() }),
  example: {
    body: { code: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM', name: 'Portable', response: EXAMPLE_REGISTRATION },
    response: {
      username: 'alice',
      factor: { ...EXAMPLE_FACTOR, kind: 'passkey', name: 'Portable' },
      recovery_codes: EXAMPLE_CODES,
    },
  },
  errors: [...OFFER_ERRORS, ...LINK_ERRORS, ...PASSKEY_ERRORS, ...ENROLMENT_ERRORS],

  async handler({ body: { code, name, response } }, context) {
    const { caller, clock, fail, auditEntry } = context
    expectOffered(context)
    const { challenge, account, uid, shadow_counts } = await openLink(context, code)
    const { id, username } = account
    if (account.uid !== null && account.uid !== uid) {
      // The link was made for the former account: what is left of it ends, the link too.
      await endReplaced(context, account, [forgettingUid(id)])
      throw fail('challenge_over')
    }
    const question = passkeyQuestion(context, caller, challenge.data.challenge)
    if (!question) throw fail('passkeys_need_name')
    await countChallengeAnswer(context, challenge)
    const user = { id, username }
    const created_at = timestamp(clock())
    const added = await newPasskey(context, question, { user, name, created_at, response })
    const enrolled = await enrol(context, user, { kind: 'passkey', name, created_at }, [
      ...useChallenge(context, challenge),
      ...added,
      ...enrolledAtConsole({ id, uid, shadow_counts }),
      auditEntry('enrolment_link_used', { user, target: username }),
    ])
    return { username, ...enrolled }
  },
})

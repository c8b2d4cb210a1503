import * as z from 'zod'
import { isLostClaim } from '../../db/access/claims.ts'
import { expectingNoFactor } from '../../db/access/factors.ts'
import type { ProvenBy } from '../../db/sessions.ts'
import { ROLES } from '../../runtime/context.ts'
import { PasskeyQuestion } from '../factors/passkeys.ts'
import { askFactor, isFactorRequired } from '../factors/second-factor.ts'
import type { Context, ErrorCode } from '../services.ts'
import { type Admitted, type ENTRY_ACTIONS, ENTRY_ERRORS, openSession, type SignedIn } from './entry.ts'

/** The codes that `admit` and `finishSignIn` throw. */
export const FINISH_ERRORS = [...ENTRY_ERRORS, 'factor_required'] as const satisfies readonly ErrorCode[]

/** The data of a challenge of a sign-in: the account as it was admitted. */
export const PendingSignIn = z.object({
  id: z.number(),
  username: z.string(),
  rights: z.object({ role: z.enum(ROLES), operates: z.union([z.literal('all'), z.array(z.string())]) }),
  question: PasskeyQuestion.optional(),
})

/**
 * Ends the part of a sign-in that the host decides. Opens a session, which may only enrol where a factor is required and
 * none is enrolled. `provenAt` is as in `openSession`. For an account with an enrolled factor, throws `factor_required` with a challenge instead;
 * `POST /api/auth/login/answers` goes on.
 */
export async function finishSignIn(
  context: Context<undefined, (typeof FINISH_ERRORS)[number], (typeof ENTRY_ACTIONS)[number]>,
  admitted: Admitted,
  provenBy: ProvenBy,
  provenAt?: Date,
): Promise<z.infer<typeof SignedIn>> {
  const ask = async () => {
    const asked = await askFactor(context, { userId: admitted.id, purpose: 'sign_in', data: admitted })
    if (asked) throw context.fail('factor_required', { more: asked })
  }
  await ask()
  const enrolling = isFactorRequired(context.config, admitted.rights.role)
  const more = [expectingNoFactor(admitted.id)]
  return openSession(context, admitted, { provenBy, provenAt, enrolling, more }).catch(async (error: unknown) => {
    // The first factor was added in this moment. It has ended the sessions that there were, and would free this one.
    if (isLostClaim(error)) await ask()
    throw error
  })
}

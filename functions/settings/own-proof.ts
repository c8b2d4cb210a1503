import { listFactors } from '../../db/access/factors.ts'
import { proofOfSession } from '../../db/sessions.ts'
import type { User } from '../../runtime/context.ts'
import { SshError } from '../../ssh/ssh.ts'
import { admitPassword, type PROOF_ERRORS, prove } from '../auth/proof.ts'
import type { Context } from '../services.ts'

/** How long, in seconds, a proof by a factor stands for the password: much shorter than for a step-up. */
const FRESH_SECONDS = 300
/** A stolen session may add a factor of its own; its owner is told, and has this long to end it. */
const SETTLED_MS = 24 * 3_600_000

type Given = Context<User, (typeof PROOF_ERRORS)[number] | 'step_up_required', 'proof_refused'>

/**
 * Has the caller prove a change by their own password: that of the host, or a schedule that reboots it. Where the host takes no passwords, a code or
 * a passkey of the last five minutes stands for it; without one, throws `step_up_required`. While any factor of the caller is
 * younger than a day, nothing stands for the password.
 */
export async function proveChange(password: string | undefined, context: Given): Promise<void> {
  const { db, user, clock, fail } = context
  const factors = password ? [] : await listFactors(db, user.id)
  const settled = clock().getTime() - SETTLED_MS
  const areSettled = factors.length > 0 && factors.every(({ created_at }) => Date.parse(created_at) <= settled)
  if (!areSettled || !(await refusesPasswords(context))) return prove(password, context)
  const proof = await proofOfSession(db, Number(user.sid), user.id)
  const isByFactor = proof?.proven_by === 'totp' || proof?.proven_by === 'passkey'
  // As in `expectProof`: a proof of the future is from before the clock was set back.
  const age = proof ? Math.abs(clock().getTime() - Date.parse(proof.proven_at)) : Number.POSITIVE_INFINITY
  if (!isByFactor || !(age <= FRESH_SECONDS * 1000)) throw fail('step_up_required')
}

/**
 * Asks the present host which methods it offers to the caller. No password is sent, so the host judges none. Only the clear
 * answer that passwords are not among them counts; a host that is away has said nothing.
 */
async function refusesPasswords(context: Given): Promise<boolean> {
  const { host, user } = context
  try {
    await host.signIn(user.username, '', await admitPassword(context))
    return false
  } catch (error) {
    if (!(error instanceof SshError)) throw error
    return error.reason === 'no_passwords'
  }
}

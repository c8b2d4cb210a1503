import { listFactors } from '../../db/access/factors.ts'
import { proofOfSession } from '../../db/sessions.ts'
import type { AuditNote, User } from '../../runtime/context.ts'
import { Failure } from '../../runtime/errors.ts'
import { SshError } from '../../ssh/ssh.ts'
import { admitPassword, PROOF_ERRORS, provePassword } from '../auth/proof.ts'
import type { Context, ErrorCode } from '../services.ts'

/** How long, in seconds, a proof by a factor stands for the password: much shorter than for a step-up. */
const FRESH_SECONDS = 300
/** A stolen session may add a factor of its own; its owner is told, and has this long to end it. */
const SETTLED_MS = 24 * 3_600_000

/** The codes that `proveChange` throws. */
export const CHANGE_PROOF_ERRORS = [
  'step_up_required',
  'proof_needs_factor',
  ...PROOF_ERRORS,
] as const satisfies readonly ErrorCode[]

type Given = Context<User, (typeof CHANGE_PROOF_ERRORS)[number], 'proof_refused'>

/**
 * Has the caller prove a change by their own password: that of the host, or a schedule that reboots it. Where the host takes no passwords, or asks
 * more than one, a code or a passkey of the last five minutes stands for it; without one, throws `step_up_required`. While any
 * factor of the caller is younger than a day, nothing stands for the password: `proof_needs_factor` tells what to do.
 */
export async function proveChange(password: string | undefined, context: Given): Promise<void> {
  const { audit, fail } = context
  if (!password) {
    if (!(await hasSettledFactors(context)) || !(await refusesPasswords(context))) throw fail('proof_required')
    if (!(await isProvenByFactor(context))) throw fail('step_up_required')
    return
  }
  const refusals: AuditNote[] = []
  await provePassword(password, context, async (note) => void refusals.push(note)).catch(async (error: unknown) => {
    const failure = isNoMatterOfPasswords(error) ? await missingFactor(context, error) : error
    if (!failure) return
    for (const note of refusals) await audit('proof_refused', note)
    throw failure
  })
}

/** The failure of a caller for whose password no factor stands; undefined if one does. */
async function missingFactor(context: Given, cause: unknown): Promise<Failure | undefined> {
  if (!(await hasSettledFactors(context))) return context.fail('proof_needs_factor', { cause })
  return (await isProvenByFactor(context)) ? undefined : context.fail('step_up_required', { cause })
}

async function hasSettledFactors({ db, user, clock }: Given): Promise<boolean> {
  const factors = await listFactors(db, user.id)
  const settled = clock().getTime() - SETTLED_MS
  return factors.length > 0 && factors.every(({ created_at }) => Date.parse(created_at) <= settled)
}

async function isProvenByFactor({ db, user, clock }: Given): Promise<boolean> {
  const proof = await proofOfSession(db, Number(user.sid), user.id)
  const isByFactor = proof?.proven_by === 'totp' || proof?.proven_by === 'passkey'
  // As in `expectProof`: a proof of the future is from before the clock was set back.
  const age = proof ? Math.abs(clock().getTime() - Date.parse(proof.proven_at)) : Number.POSITIVE_INFINITY
  return isByFactor && age <= FRESH_SECONDS * 1000
}

/**
 * Whether a proof failed because the host lets nobody in by a password alone. A right first answer of a longer conversation
 * proves nothing: many hosts go on after a wrong one, too.
 */
function isNoMatterOfPasswords(error: unknown): boolean {
  const cause = error instanceof Failure ? error.cause : undefined
  return cause instanceof SshError && (cause.reason === 'asks_more' || cause.reason === 'no_passwords')
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

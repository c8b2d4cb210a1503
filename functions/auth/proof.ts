import * as z from 'zod'
import { limitKey } from '../../runtime/caller.ts'
import type { AuditNote, User } from '../../runtime/context.ts'
import type { Failure, FailureOptions } from '../../runtime/errors.ts'
import { type Checked, SshError } from '../../ssh/ssh.ts'
import type { Context, ErrorCode } from '../services.ts'

/** Limit on passwords per address, shared by the sign-in and the proof: a guesser gets no second allowance. */
export const PASSWORD_LIMIT = { limit: 5, seconds: 60, by: 'address', shared: true } as const
const SIGN_IN = 'POST /api/auth/login'

/**
 * Retry-After of a full queue. Most of a full queue is done by then, and a client that waits this long stays under five
 * attempts a minute.
 */
export const BUSY_SECONDS = 12

/** The caller's own password, in the body of requests that a stolen token alone must not perform. */
export const CurrentPassword = z.string().max(1024).meta({ description: 'The caller’s own password, as proof.' })

export const PROOF_ERRORS = [
  'proof_required',
  'proof_wrong',
  'proof_impossible',
  'login_rate_limited',
  'login_busy',
] as const satisfies readonly ErrorCode[]

/**
 * Has the host check the signed-in user's own password. Throws one of `PROOF_ERRORS` when the check fails; none has
 * status 401, which would mean that the session has ended. `noteRefusal` writes the audit entry of a refused password. With
 * `asks`, returns the questions of a host that asks more than the password, which otherwise is `proof_impossible`.
 */
export async function provePassword(
  password: string | undefined,
  context: Pick<Context<User, (typeof PROOF_ERRORS)[number], never>, 'host' | 'fail' | keyof Asking>,
  noteRefusal: (note: AuditNote) => Promise<void>,
  asks = false,
): Promise<Extract<Checked, { asked: unknown }>['asked'] | undefined> {
  const { user, host, fail } = context
  if (!password) throw fail('proof_required')
  const turn = { ...(await admitPassword(context)), asks }
  const checked = await host.signIn(user.username, password, turn).catch(async (error: unknown) => {
    throw await proofFailure({ fail }, error, noteRefusal)
  })
  if (!checked) throw fail('login_busy', { retryAfter: BUSY_SECONDS, values: { seconds: BUSY_SECONDS } })
  return 'asked' in checked ? checked.asked : undefined
}

type Asking = Pick<Context<User, 'login_rate_limited', never>, 'user' | 'limiter' | 'caller' | 'signal' | 'log'>

/** Counts a question to the host among the passwords of its address, and returns its place in the queue. */
export async function admitPassword({
  user,
  limiter,
  caller,
  signal,
  fail,
  log,
}: Asking & Pick<Context<User, 'login_rate_limited', never>, 'fail'>): Promise<{ from: string; signal: AbortSignal }> {
  const wait = await limiter.admit(SIGN_IN, limitKey(caller.address), PASSWORD_LIMIT)
  if (wait > 0) {
    const seconds = Math.ceil(wait / 1000)
    log.warn({ username: user.username, address: caller.address }, 'too many passwords: a proof is refused')
    throw fail('login_rate_limited', { retryAfter: seconds, values: { seconds } })
  }
  return { from: limitKey(caller.address), signal }
}

/** Returns the failure of a proof that the host refused or did not judge; any other error as it is. */
export async function proofFailure(
  { fail }: { fail(code: 'proof_wrong' | 'proof_impossible', options: FailureOptions): Failure },
  error: unknown,
  noteRefusal: (note: AuditNote) => Promise<void>,
): Promise<unknown> {
  if (!(error instanceof SshError)) return error
  const { reason, message } = error
  await noteRefusal({ details: { reason, error: message }, isRefusal: true })
  if (reason === 'bad_credentials') return fail('proof_wrong', { cause: error })
  return fail('proof_impossible', { values: { message }, cause: error })
}

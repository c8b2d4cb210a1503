import * as z from 'zod'
import { escapeControl } from '../../platform/escape-control.ts'
import { SecretError } from '../../platform/secrets.ts'
import type { User } from '../../runtime/context.ts'
import type { Failure } from '../../runtime/errors.ts'
import { type Checked, isAccountName, type Prompt, SshError } from '../../ssh/ssh.ts'
import type { Context, ErrorCode, Services } from '../services.ts'
import { admit, type ENTRY_ACTIONS, type SignedIn } from './entry.ts'
import { FINISH_ERRORS, finishSignIn } from './finish.ts'
import { resolveSignIn } from './host-account.ts'
import { BUSY_SECONDS, proofFailure, type PROOF_ERRORS } from './proof.ts'

/** The codes of a sign-in that the host decides, by a password or by answers. */
export const HOST_ERRORS = [
  'bad_credentials',
  'passwords_not_taken',
  'password_expired',
  'more_asked',
  'prompts_impossible',
  'ssh_host_missing',
  'ssh_unreachable',
  'ssh_throttled',
  'host_key_changed',
  'login_busy',
  ...FINISH_ERRORS,
] as const satisfies readonly ErrorCode[]

const CHALLENGE_ERRORS = [
  'challenge_elsewhere',
  'challenge_over',
  'answers_miscounted',
] as const satisfies readonly ErrorCode[]

/** The codes that `answerPrompts` throws. */
export const ANSWER_ERRORS = [...HOST_ERRORS, ...CHALLENGE_ERRORS, 'answers_refused'] as const

/** The codes that `answerProof` throws. */
export const PROOF_ANSWER_ERRORS = [...CHALLENGE_ERRORS, 'proof_more_asked'] as const satisfies readonly ErrorCode[]

/** Answers to the questions of the host, which may be a new password. */
export const PromptAnswers = z.object({
  challenge: z
    .string()
    .max(2_048)
    .regex(/^v1\.[\w-]+$/)
    .meta({ description: 'The challenge that `more_asked` told.', examples: ['v1.c2VhbGVk'] }),
  answers: z
    .array(z.string().max(1_024))
    .min(1)
    .max(10)
    .meta({ description: 'One answer for each prompt, in their order.' }),
})
export type PromptAnswers = z.infer<typeof PromptAnswers>

/** Characters of an invalid user name that the audit log keeps. */
const MAX_AUDITED_NAME = 256

type SignInContext<code extends ErrorCode> = Context<undefined, code, (typeof ENTRY_ACTIONS)[number]>

/** Writes the audit entry of a sign-in that the host has refused, and returns its failure. */
export async function refuseSignIn(
  { audit, fail }: Pick<SignInContext<(typeof HOST_ERRORS)[number]>, 'audit' | 'fail'>,
  username: string,
  error: SshError,
): Promise<Failure> {
  const named = isAccountName(username) ? username : escapeControl(username.slice(0, MAX_AUDITED_NAME))
  const details = { reason: error.reason, error: error.message }
  await audit('login_failed', { user: { id: null, username: named }, details })
  return fail(REFUSALS[error.reason], { cause: error })
}

const REFUSALS = {
  bad_credentials: 'bad_credentials',
  no_passwords: 'passwords_not_taken',
  asks_more: 'prompts_impossible',
  password_expired: 'password_expired',
  unreachable: 'ssh_unreachable',
  throttled: 'ssh_throttled',
  refused: 'ssh_unreachable',
  unanswered: 'ssh_unreachable',
  lost: 'ssh_unreachable',
  host_key_changed: 'host_key_changed',
} as const satisfies Record<SshError['reason'], ErrorCode>

/**
 * Signs in whom the host has accepted. Throws `more_asked` with the host’s questions where it asks more than a password;
 * `answerPrompts` goes on.
 */
export async function enter(
  context: SignInContext<(typeof HOST_ERRORS)[number]>,
  username: string,
  checked: Checked | undefined,
  provenBy: 'password' | 'host',
): Promise<z.infer<typeof SignedIn>> {
  const { audit, fail } = context
  if (!checked) throw fail('login_busy', { retryAfter: BUSY_SECONDS, values: { seconds: BUSY_SECONDS } })
  if ('asked' in checked) {
    await audit('login_asked', { user: { id: null, username }, details: { prompts: checked.asked.prompts.length } })
    throw fail('more_asked', { more: told(context, checked.asked, { username, sid: null }) })
  }
  const entrant = await resolveSignIn(context, username, checked.claim)
  if (!entrant)
    throw await refuseSignIn(context, username, new SshError('bad_credentials', 'l’hôte ne connaît pas ce compte'))
  return finishSignIn(context, await admit(context, entrant), provenBy)
}

/**
 * Goes on with a sign-in whose host asks more than a password, over the connection that waits in this process. Throws one
 * of `ANSWER_ERRORS`: `more_asked` again when the host asks again.
 */
export async function answerPrompts(
  context: SignInContext<(typeof ANSWER_ERRORS)[number]>,
  { challenge, answers }: PromptAnswers,
): Promise<z.infer<typeof SignedIn>> {
  const { host, signal, fail } = context
  const { id, username } = opened(context, challenge, null)
  const checked = await host.answer(id, answers, { signal }).catch(async (error: unknown) => {
    if (!(error instanceof SshError)) throw error
    const failure = await refuseSignIn(context, username, error)
    throw error.reason === 'bad_credentials' ? fail('answers_refused', { cause: error }) : failure
  })
  if (typeof checked === 'string') throw fail(UNANSWERED[checked])
  return enter(context, username, checked, 'host')
}

const UNANSWERED = { gone: 'challenge_over', miscounted: 'answers_miscounted' } as const

type Prover = Context<User, (typeof PROOF_ANSWER_ERRORS)[number] | (typeof PROOF_ERRORS)[number], never>

/** Returns the failure of a proof by password for which the host asks more. `answerProof` goes on. */
export function proofAsked(
  context: Pick<Prover, 'user' | 'boot' | 'clock' | 'secrets' | 'fail'>,
  asked: Asked,
): Failure {
  const { sid, username } = context.user
  return context.fail('proof_more_asked', { more: told(context, asked, { username, sid }) })
}

/**
 * Goes on with the proof of a signed-in user. `noteRefusal` writes the audit entry of refused answers. Throws one of
 * `PROOF_ANSWER_ERRORS` or of `PROOF_ERRORS`.
 */
export async function answerProof(
  context: Pick<Prover, 'user' | 'host' | 'boot' | 'clock' | 'secrets' | 'signal' | 'fail'>,
  { challenge, answers }: PromptAnswers,
  noteRefusal: Parameters<typeof proofFailure>[2],
): Promise<void> {
  const { user, host, signal, fail } = context
  const { id } = opened(context, challenge, user.sid)
  const checked = await host.answer(id, answers, { signal }).catch(async (error: unknown) => {
    throw await proofFailure(context, error, noteRefusal)
  })
  if (typeof checked === 'string') throw fail(UNANSWERED[checked])
  if (!checked) throw fail('login_busy', { retryAfter: BUSY_SECONDS, values: { seconds: BUSY_SECONDS } })
  if ('asked' in checked) throw proofAsked(context, checked.asked)
}

interface Asked {
  id: string
  prompts: readonly Prompt[]
}

/**
 * The sealed content of a challenge. The connection that it names is in the memory of one process. `sid` is the session
 * whose proof it is, null for a sign-in.
 */
const Challenge = z.object({
  boot: z.string(),
  id: z.string(),
  at: z.number(),
  username: z.string(),
  sid: z.string().nullable(),
})
const SEAL = 'prompts'
/** Longer than a connection waits: until then another instance knows that it is not the one. */
const KNOWN_MS = 120_000

type Sealing = Pick<Services, 'boot' | 'clock' | 'secrets'>

function told(
  { boot, clock, secrets }: Sealing,
  { id, prompts }: Asked,
  of: Pick<z.infer<typeof Challenge>, 'username' | 'sid'>,
) {
  const content = { boot: boot.id, id, at: clock().getTime(), ...of }
  return { challenge: secrets.seal(SEAL, JSON.stringify(content)), prompts }
}

/** Reads the challenge of this session, or of nobody. Throws `challenge_over` or `challenge_elsewhere`. */
function opened(
  {
    boot,
    clock,
    secrets,
    fail,
  }: Sealing & { fail(code: 'challenge_elsewhere' | 'challenge_over', options?: { cause: unknown }): Failure },
  sealed: string,
  sid: string | null,
): z.infer<typeof Challenge> {
  const content = Challenge.parse(JSON.parse(unsealed(secrets, sealed, (cause) => fail('challenge_over', { cause }))))
  if (content.sid !== sid || clock().getTime() - content.at > KNOWN_MS) throw fail('challenge_over')
  if (content.boot !== boot.id) throw fail('challenge_elsewhere')
  return content
}

function unsealed(secrets: Services['secrets'], sealed: string, failure: (cause: unknown) => Failure): string {
  try {
    return secrets.open(SEAL, sealed)
  } catch (error) {
    throw error instanceof SecretError ? failure(error) : error
  }
}

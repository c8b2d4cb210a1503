import * as z from 'zod'
import { escapeControl } from '../../platform/escape-control.ts'
import { limitKey } from '../../runtime/caller.ts'
import { ForeignPage } from '../../runtime/errors.ts'
import { isAccountName, SshError } from '../../ssh/ssh.ts'
import { defineFunction } from '../services.ts'
import { admit, ENTRY_ACTIONS, ENTRY_ERRORS, openSession, SIGNED_IN_EXAMPLE, SignedIn } from './entry.ts'
import { resolveSignIn } from './host-account.ts'
import { BUSY_SECONDS, PASSWORD_LIMIT } from './proof.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/login',
  summary: 'Sign in',
  description: 'Signs in with an account of the host. The refresh token goes into a cookie that scripts cannot read.',
  auth: 'none',
  rateLimit: {
    ...PASSWORD_LIMIT,
    refusal: 'login_rate_limited',
    audit: 'login_rate_limited',
  },
  audit: ENTRY_ACTIONS,
  request: {
    body: z.object({
      username: z.string().min(1),
      password: z.string().min(1).max(1024),
    }),
    refusal: 'credentials_missing',
  },
  response: SignedIn,
  headers: { 'set-cookie': 'The refresh token, only for `/api/auth/`.' },
  example: {
    body: { username: 'alice', password: 'correct horse battery staple' },
    response: SIGNED_IN_EXAMPLE,
  },
  errors: [
    'origin_forbidden',
    'ssh_host_missing',
    'bad_credentials',
    'ssh_unreachable',
    'ssh_throttled',
    'host_key_changed',
    'login_busy',
    ...ENTRY_ERRORS,
  ],

  async handler({ body: { username: typed, password } }, context) {
    const { host, settings, limiter, caller, signal, audit, fail } = context
    // A page of another origin must not sign its visitors in as another user.
    if (caller.foreign !== undefined) throw fail('origin_forbidden', { cause: new ForeignPage(caller.foreign) })
    const refused = async (error: SshError) => {
      await audit('login_failed', {
        user: { id: null, username: isAccountName(typed) ? typed : escapeControl(typed.slice(0, MAX_AUDITED_NAME)) },
        details: { reason: error.reason, error: error.message },
      })
      return fail(REFUSALS[error.reason], { cause: error })
    }
    await settings.sshServer()
    // sshd reads another user name out of some texts (`bob:x` is bob), and a terminal interprets control characters.
    if (!isAccountName(typed)) {
      const impossible = new SshError('bad_credentials', 'ce nom ne peut être celui d’un compte')
      const isTold = (await limiter.admit('names of nobody', '', INVALID_NAME_LIMIT)) === 0
      throw isTold ? await refused(impossible) : fail('bad_credentials', { cause: impossible })
    }
    const turn = { from: limitKey(caller.address), signal }
    const checked = await host.signIn(typed, password, turn).catch(async (error: unknown) => {
      throw error instanceof SshError ? await refused(error) : error
    })
    if (!checked) throw fail('login_busy', { retryAfter: BUSY_SECONDS, values: { seconds: BUSY_SECONDS } })

    const entrant = await resolveSignIn(context, typed, checked.claim)
    if (!entrant) throw await refused(new SshError('bad_credentials', 'l’hôte ne connaît pas ce compte'))
    return openSession(context, await admit(context, entrant), { provenBy: 'password' })
  },
})

/**
 * Limit on audited attempts per address with names that no account can have. The host is never asked about such a name,
 * because it takes time for each password.
 */
const INVALID_NAME_LIMIT = { limit: 100, seconds: 3_600, by: 'address' } as const

/** Characters of an invalid user name that the audit log keeps. */
const MAX_AUDITED_NAME = 256

const REFUSALS = {
  bad_credentials: 'bad_credentials',
  unreachable: 'ssh_unreachable',
  throttled: 'ssh_throttled',
  refused: 'ssh_unreachable',
  unanswered: 'ssh_unreachable',
  lost: 'ssh_unreachable',
  host_key_changed: 'host_key_changed',
} as const

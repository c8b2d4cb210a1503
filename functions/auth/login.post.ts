import * as z from 'zod'
import { limitKey } from '../../runtime/caller.ts'
import { ForeignPage } from '../../runtime/errors.ts'
import { isAccountName, SshError } from '../../ssh/ssh.ts'
import { defineFunction } from '../services.ts'
import { ENTRY_ACTIONS, isNamelessTold, SIGNED_IN_EXAMPLE, SignedIn } from './entry.ts'
import { enter, HOST_ERRORS, refuseSignIn } from './prompts.ts'
import { PASSWORD_LIMIT } from './proof.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/login',
  summary: 'Sign in',
  description:
    'Signs in with an account of the host. The refresh token goes into a cookie that scripts cannot read. Where the host asks more than a password, the answer is `more_asked` with its questions, and the answers go to `/api/auth/login/answers` within 100 s.',
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
  errors: ['origin_forbidden', ...HOST_ERRORS],

  async handler({ body: { username: typed, password } }, context) {
    const { host, settings, caller, signal, fail } = context
    // A page of another origin must not sign its visitors in as another user.
    if (caller.foreign !== undefined) throw fail('origin_forbidden', { cause: new ForeignPage(caller.foreign) })
    await settings.sshServer()
    // sshd reads another user name out of some texts (`bob:x` is bob), and a terminal interprets control characters. The host
    // is never asked about such a name, because it takes time for each password.
    if (!isAccountName(typed)) {
      const impossible = new SshError('bad_credentials', 'ce nom ne peut être celui d’un compte')
      const isTold = await isNamelessTold(context, 'names of nobody')
      throw isTold ? await refuseSignIn(context, typed, impossible) : fail('bad_credentials', { cause: impossible })
    }
    const turn = { from: limitKey(caller.address), signal, asks: true }
    const checked = await host.signIn(typed, password, turn).catch(async (error: unknown) => {
      throw error instanceof SshError ? await refuseSignIn(context, typed, error) : error
    })
    return enter(context, typed, checked, 'password')
  },
})

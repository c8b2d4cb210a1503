import * as z from 'zod'
import { CreationOptions, EXAMPLE_CREATION } from '../factors/passkey-shapes.ts'
import { creationOptions } from '../factors/passkeys.ts'
import { defineFunction } from '../services.ts'
import { LINK_ERRORS, LinkCode, openLink } from './enrolment-link.ts'
import { expectOffered, OFFER_ERRORS } from './offered.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/enrol/options',
  summary: 'Begin with a passkey by a link of the console',
  description:
    'Returns the account of a link that `ops-panel factors enrol` has made, and what the browser needs to make its passkey. Nothing changes. Needs `PANEL_PASSKEY_SIGN_IN=on`.',
  auth: 'none',
  rateLimit: { limit: 10, seconds: 60, by: 'address', refusal: 'login_rate_limited' },
  audit: false,
  request: { body: z.object({ code: LinkCode }) },
  response: z.object({ username: z.string(), options: CreationOptions }),
  example: {
    body: { code: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM' },
    response: { username: 'alice', options: EXAMPLE_CREATION },
  },
  errors: [...OFFER_ERRORS, ...LINK_ERRORS],

  async handler({ body: { code } }, context) {
    const { caller, fail } = context
    expectOffered(context)
    const { challenge, account } = await openLink(context, code)
    const choice = { challenge: challenge.data.challenge, residentKey: 'required' } as const
    const asked = await creationOptions(context, caller, account, choice)
    if (!asked) throw fail('passkeys_need_name')
    return { username: account.username, options: asked.options }
  },
})

import * as z from 'zod'
import { relyingPartyOf } from '../factors/relying-party.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/login/passkey',
  summary: 'Whether a passkey signs in',
  description:
    'Says whether a passkey alone signs in here: `PANEL_PASSKEY_SIGN_IN=on`, and a panel that was opened by a name and over HTTPS.',
  auth: 'none',
  rateLimit: { limit: 1200, seconds: 60, by: 'address' },
  response: z.object({ enabled: z.boolean() }),
  example: { response: { enabled: true } },

  handler(_, context) {
    return { enabled: context.config.passkeySignIn && relyingPartyOf(context, context.caller) !== undefined }
  },
})

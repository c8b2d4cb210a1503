import * as z from 'zod'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { ChallengeId, createChallenge } from './challenges.ts'
import { expectRoom } from './enrolment.ts'
import { CreationOptions, EXAMPLE_CREATION } from './passkey-shapes.ts'
import { creationOptions } from './passkeys.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/auth/factors/passkeys/options',
  summary: 'Begin with a passkey',
  description:
    'Returns what the browser needs to make a passkey (the argument of `PublicKeyCredential.parseCreationOptionsFromJSON`). Nothing changes until its answer comes, within ten minutes. Passkeys belong to the name of the panel: the host of `PANEL_PUBLIC_URL`, else that of the request where no proxy is trusted.',
  auth: 'user',
  stepUp: true,
  whileEnrolling: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: false,
  response: z.object({ challenge: ChallengeId, options: CreationOptions }),
  example: {
    response: { challenge: '0LwTgDPgE5hyPa5nSVm6yHFFZkqEwBtV0nVUhk6pEwM', options: EXAMPLE_CREATION },
  },
  errors: ['passkeys_need_name', 'factors_full'],

  async handler(_, context) {
    const { user, caller, fail } = context
    await expectRoom(context)
    const asked = await creationOptions(context, caller, user)
    if (!asked) throw fail('passkeys_need_name')
    const { options, question } = asked
    return {
      challenge: await createChallenge(context, { userId: user.id, purpose: 'passkey', data: question }),
      options,
    }
  },
})

import * as z from 'zod'
import { authorizedLine } from '../../ssh/ssh.ts'
import { defineFunction } from '../services.ts'
import { KEY_PARTS } from './key-parts.ts'
import { mayInstall, notInstalled, SetupBody } from './wizard.ts'

const EXAMPLE_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMb3sTN0m5oYh1nJ8o1K5b7jGq0Vw2Q4dC6rX9eYtZpL'

export default defineFunction({
  method: 'POST',
  path: '/api/install/key',
  summary: 'Make the service account’s key',
  description:
    'Makes the SSH key of the service account at the first call, and returns its line for the account’s `authorized_keys` with the meaning of each part. The private key stays in the service. It is used by a check and an installation with `auth` `key`.',
  auth: 'none',
  rateLimit: { limit: 30, seconds: 60, by: 'address' },
  audit: false,
  precondition: (context) => notInstalled(context, context.fail),
  request: { body: SetupBody.pick({ setup_token: true }) },
  response: z.object({
    ssh_public_key: z.string(),
    authorized_key: z.string().meta({ description: 'The line for `authorized_keys`.' }),
    parts: z.array(
      z.object({
        text: z.string(),
        message: z.string(),
        optional: z.boolean().meta({ description: 'The line does not have this part; it may be added.' }),
      }),
    ),
  }),
  example: {
    body: { setup_token: 'k3x9q2pa7m5v1c8z' },
    response: {
      ssh_public_key: EXAMPLE_KEY,
      authorized_key: authorizedLine({ publicKey: EXAMPLE_KEY }),
      parts: [{ text: 'pty', message: 'Le panneau ouvre des terminaux.', optional: false }],
    },
  },
  errors: ['already_installed', 'setup_token_wrong'],

  async handler({ body: { setup_token } }, context) {
    await mayInstall(context, setup_token, context.fail)
    const key = await context.settings.nextSshKey()
    return { ssh_public_key: key.publicKey, authorized_key: authorizedLine(key), parts: [...KEY_PARTS] }
  },
})

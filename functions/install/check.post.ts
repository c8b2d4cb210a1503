import * as z from 'zod'
import { parseAddress } from '../../platform/addresses.ts'
import { defineFunction } from '../services.ts'
import { HostKey } from '../settings/fields.ts'
import { checkHost } from './host-check.ts'
import { EXAMPLE_SETUP, mayInstall, notInstalled, secretsOf, SetupBody, withPassword } from './wizard.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/install/check',
  summary: 'Check a host',
  description: 'Checks the host and the account typed into the wizard, and stores nothing.',
  auth: 'none',
  rateLimit: { limit: 30, seconds: 60, by: 'address' },
  audit: false,
  precondition: (context) => notInstalled(context, context.fail),
  request: { body: withPassword(SetupBody) },
  response: z.object({
    // Empty when the host does not answer.
    ssh_host_key: z.union([HostKey, z.literal('')]),
    checks: z.array(
      z.object({
        id: z.enum(['reachable', 'authenticated', 'elevation', 'apt', 'container_tool', 'penalties']),
        ok: z.boolean(),
        message: z.string(),
      }),
    ),
  }),
  example: {
    body: EXAMPLE_SETUP,
    response: {
      ssh_host_key: 'SHA256:3nMTmQGFJEoUVmPlCsXRMcYzHxAUBNYlF0ZOZsQm7Fc',
      checks: [{ id: 'reachable', ok: true, message: 'L’hôte répond.' }],
    },
  },
  errors: ['already_installed', 'setup_token_wrong', 'target_invalid', 'ssh_key_missing'],

  async handler({ body }, context) {
    const { setup_token, ssh_host, ssh_username: username } = body
    await mayInstall(context, setup_token, context.fail)
    const server = parseAddress(ssh_host)
    if (!server) throw context.fail('target_invalid', { values: { target: ssh_host } })
    const secrets = await secretsOf(body, context, context.fail)
    const { hostKey, checks } = await checkHost(
      { address: ssh_host, ...server, hostKey: '', username, ...secrets },
      context.log,
    )
    // The part that ssh-keygen shows to people; the key type does not help the comparison.
    return { ssh_host_key: hostKey.split(' ').at(-1) ?? '', checks }
  },
})

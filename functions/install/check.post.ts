import * as z from 'zod'
import { defineFunction } from '../../runtime/function.ts'
import { parseAddress } from '../../runtime/ssh-address.ts'
import { checkHost } from './host-check.ts'
import { EXAMPLE_SETUP, HostKey, mayInstall, notInstalled, SetupBody } from './wizard.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/install/check',
  summary: 'Try a host',
  description: 'Tries the host and the account that the wizard was given, and stores nothing.',
  auth: 'none',
  rateLimit: { limit: 30, seconds: 60, by: 'address' },
  audit: false,
  precondition: (context) => notInstalled(context, context.fail),
  request: { body: SetupBody },
  response: z.object({
    // Without one when the host does not answer.
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
  errors: ['already_installed', 'setup_token_wrong', 'target_invalid'],

  async handler({ body: { setup_token, ssh_host, ssh_username: username, ssh_password: password } }, context) {
    await mayInstall(context, setup_token, context.fail)
    const server = parseAddress(ssh_host)
    if (!server) throw context.fail('target_invalid', { values: { target: ssh_host } })
    const { hostKey, checks } = await checkHost(
      { address: ssh_host, ...server, hostKey: '', username, password },
      context.log,
    )
    // What ssh-keygen shows a person; its type is of no use for the comparison.
    return { ssh_host_key: hostKey.split(' ').at(-1) ?? '', checks }
  },
})

import * as z from 'zod'
import { parseAddress } from '../../platform/addresses.ts'
import { documentedAs } from '../../runtime/input.ts'
import { SshHostKey } from '../../ssh/ssh.ts'
import { HypervisorToken, HypervisorUrl } from '../hypervisor/settings.ts'
import { defineFunction } from '../services.ts'
import { HostKey } from '../settings/fields.ts'
import { checkHost } from './host-check.ts'
import { EXAMPLE_SETUP, mayInstall, notInstalled, secretsOf, SetupBody, withPassword } from './wizard.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/install',
  summary: 'Install the service',
  description:
    'Stores the first settings if the host has the agreed key and lets the account in. This works once: the setup token is used up.',
  auth: 'none',
  rateLimit: { limit: 30, seconds: 60, by: 'address' },
  audit: ['installed'],
  precondition: (context) => notInstalled(context, context.fail),
  request: {
    body: withPassword(
      SetupBody.extend({
        ssh_host_key: documentedAs(HostKey, SshHostKey.min(1, 'l’empreinte « SHA256:… » que vous avez vérifiée')),
        hypervisor_url: HypervisorUrl.optional(),
        hypervisor_token: HypervisorToken.optional(),
      }),
    ),
  },
  status: 201,
  response: z.object({ message: z.string() }),
  example: {
    body: { ...EXAMPLE_SETUP, ssh_host_key: 'SHA256:3nMTmQGFJEoUVmPlCsXRMcYzHxAUBNYlF0ZOZsQm7Fc' },
    response: { message: 'Installation terminée : connectez-vous avec un compte de l’hôte.' },
  },
  errors: ['already_installed', 'setup_token_wrong', 'target_invalid', 'ssh_key_missing', 'host_check_failed'],

  async handler({ body }, context) {
    const { settings, setupToken, log, auditEntry, fail } = context
    const { setup_token, ssh_host, ssh_username, ssh_host_key, hypervisor_url, hypervisor_token } = body
    await mayInstall(context, setup_token, fail)
    const server = parseAddress(ssh_host)
    if (!server) throw fail('target_invalid', { values: { target: ssh_host } })
    const secrets = await secretsOf(body, context, fail)
    const account = { address: ssh_host, ...server, hostKey: ssh_host_key, username: ssh_username, ...secrets }
    const { hostKey, checks } = await checkHost(account, log)
    const failed = checks.find(({ id, ok }) => !ok && (id === 'reachable' || id === 'authenticated'))
    if (failed) throw fail('host_check_failed', { values: { message: failed.message } })
    const installed = await settings.install(
      {
        ssh_host,
        ssh_username,
        ssh_password: secrets.password,
        ...(secrets.key && { ssh_key: secrets.key }),
        ssh_host_key: hostKey,
        ...(hypervisor_url && { hypervisor_url }),
        ...(hypervisor_token && { hypervisor_token }),
      },
      auditEntry('installed', { target: ssh_host }),
    )
    if (!installed) throw fail('already_installed')
    // The token opens nothing any more; if this removal fails, the next start repeats it.
    await setupToken
      .remove()
      .catch((error: unknown) => log.warn({ err: error }, 'the setup token could not be removed'))
    return { message: 'Installation terminée : connectez-vous avec un compte de l’hôte.' }
  },
})

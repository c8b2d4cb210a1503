import * as z from 'zod'
import { parseAddress } from '../../platform/addresses.ts'
import { readHostKey, SshError, SshHost } from '../../ssh/ssh.ts'
import { defineFunction } from '../services.ts'
import { HostKey } from './fields.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/settings/host-key',
  summary: 'Read a host’s key',
  description:
    'Returns the key of the machine at an address. The service only exchanges keys with it: it sends no name and no password, and stores nothing. An administrator compares the key with the host’s own, and can then agree to it in a change of `ssh_host`.',
  auth: 'admin',
  // As few as for the setup page's check, because each request makes the service connect to any address.
  rateLimit: { limit: 30, seconds: 60, by: 'address' },
  audit: false,
  request: { body: z.strictObject({ ssh_host: SshHost }) },
  response: z.object({ ssh_host_key: HostKey }),
  example: {
    body: { ssh_host: 'pve2.example' },
    response: { ssh_host_key: 'ssh-ed25519 SHA256:3nMTmQGFJEoUVmPlCsXRMcYzHxAUBNYlF0ZOZsQm7Fc' },
  },
  errors: ['target_invalid', 'host_check_failed'],

  async handler({ body: { ssh_host } }, { fail }) {
    const server = parseAddress(ssh_host)
    if (!server) throw fail('target_invalid', { values: { target: ssh_host } })
    try {
      return { ssh_host_key: await readHostKey(server) }
    } catch (cause) {
      if (!(cause instanceof SshError)) throw cause
      throw fail('host_check_failed', { values: { message: cause.message }, cause })
    }
  },
})

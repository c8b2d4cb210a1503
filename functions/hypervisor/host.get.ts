import { defineFunction, READS } from '../../runtime/function.ts'
import { HostFigures, readFigures } from './host-figures.ts'

/** What the host is, how it does, and whether it wants a reboot or a repair of its packages. */
export default defineFunction({
  method: 'GET',
  path: '/api/hypervisor/host',
  auth: 'user',
  rateLimit: READS,
  response: HostFigures,
  errors: ['ssh_incomplete', 'ssh_password_unreadable', 'ssh_failed'],

  async handler(_, { host, settings }) {
    await settings.sshAccount()
    return readFigures(host)
  },
})

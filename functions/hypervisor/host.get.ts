import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { HostFigures, readFigures } from './host-figures.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/hypervisor/host',
  summary: 'The host',
  description:
    'Returns the host’s system and figures, and whether it needs a reboot or a repair of its packages. `reboot_required` and `reboot_reasons` are what a check says too: packages that ask for a reboot, and an installed kernel of the running flavour that is newer. `boot_id` is another one after each boot. Units are seconds and bytes.',
  auth: 'user',
  targets: () => ['host'],
  rateLimit: READS,
  response: HostFigures,
  example: {
    response: {
      hostname: 'pve1',
      os: 'Debian GNU/Linux 12 (bookworm)',
      kernel: '6.8.12-4-pve',
      uptime: 81_418,
      load: [0.12, 0.2, 0.18],
      cpus: 8,
      mem: 4_294_967_296,
      maxmem: 33_554_432_000,
      disk: 8_382_259_200,
      maxdisk: 85_899_345_920,
      reboot_required: true,
      reboot_reasons: ['noyau 6.8.12-13-pve installé, 6.8.12-4-pve en service'],
      boot_id: '5f0c1b4e-3f0a-4f0e-9c0e-2b7a1d6c8e90',
      dpkg_broken: false,
    },
  },
  errors: ['ssh_incomplete', 'ssh_password_unreadable', 'ssh_failed', 'host_answer_too_long'],

  async handler(_, { user, host, settings }) {
    await settings.sshAccount()
    return readFigures(host, user.id)
  },
})

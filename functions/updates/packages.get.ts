import * as z from 'zod'
import { READS } from '../../runtime/function.ts'
import { succeeded } from '../../ssh/ssh.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { LIST_UPGRADABLE, parseUpgradable } from './apt.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/updates/packages',
  summary: 'Packages of a target',
  description: 'Lists the packages of the host or of one container that have an update.',
  auth: 'user',
  rateLimit: READS,
  request: { query: z.object({ target: Target }), refusal: 'target_missing' },
  response: z.array(z.object({ name: z.string(), version: z.string(), old_version: z.string() })),
  example: {
    query: { target: 'lxc:101' },
    response: [{ name: 'librig2', version: '1:2.0~rc1-1+deb12u3', old_version: '1.4.2-1+b1' }],
  },
  errors: ['target_invalid', 'ssh_incomplete', 'ssh_password_unreadable', 'ssh_failed', 'host_answer_too_long'],

  async handler({ query: { target: text } }, { user: { id: user }, host, settings, fail }) {
    await settings.sshAccount()
    const target = parseTarget(text)
    if (!target || target.kind === 'all') throw fail('target_invalid', { values: { target: shortened(text) } })
    const output =
      target.kind === 'host'
        ? await host.exec(LIST_UPGRADABLE, { user })
        : await host.exec(inContainer(target.id, LIST_UPGRADABLE), {
            user,
            rights: 'command',
            verb: ['packages', target.id],
          })
    return await parseUpgradable(succeeded(output))
  },
})

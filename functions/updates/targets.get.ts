import * as z from 'zod'
import { updateContainers } from '../../db/checks.ts'
import { timestamp } from '../../platform/clock.ts'
import { mayRead } from '../../runtime/access.ts'
import { READS } from '../../runtime/function.ts'
import { AnswerTooLong, SshError } from '../../ssh/ssh.ts'
import { Vmid } from '../hypervisor/container.ts'
import { listContainers } from '../hypervisor/pct.ts'
import { Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/updates/targets',
  summary: 'The targets of upgrades',
  description: 'Lists the host first, then its containers; only the host if the containers cannot be listed.',
  auth: 'user',
  targets: 'own',
  rateLimit: READS,
  response: z.array(z.object({ id: Target, name: z.string(), status: z.string(), vmid: Vmid.optional() })),
  example: {
    response: [
      { id: 'host', name: 'Hôte', status: 'running' },
      { id: 'lxc:101', name: 'web', status: 'running', vmid: 101 },
    ],
  },
  errors: ['ssh_incomplete', 'ssh_password_unreadable', 'host_answer_too_long'],

  async handler(_, { db, user, host, settings, clock, log }) {
    await settings.sshAccount()
    const found = await listContainers(host, { user: user.id }).catch((error: unknown) => {
      // The host alone would look like a complete list.
      if (!(error instanceof SshError) || error instanceof AnswerTooLong) throw error
      log.warn({ err: error }, 'containers cannot be listed')
      return undefined
    })
    // Stores the containers, so that they are known while the host is unreachable.
    if (found) await updateContainers(db, found, timestamp(clock()))
    const containers = found ?? []
    const all = [
      { id: 'host', name: 'Hôte', status: 'running' },
      ...containers.map(({ vmid, name, status }) => ({ id: `lxc:${vmid}`, name, status, vmid })),
    ]
    return all.filter(({ id }) => mayRead(user, id))
  },
})

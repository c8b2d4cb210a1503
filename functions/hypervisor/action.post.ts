import * as z from 'zod'
import { findHostAccount } from '../../db/users.ts'
import { Failure } from '../../runtime/errors.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { actByApi, API_ERRORS } from './api.ts'
import { containerJob } from './container-job.ts'
import { ContainerAction, TaskId } from './container-task.ts'
import { GivenVmid, IN_TIME, startable, withoutFigures } from './container.ts'
import { listContainers } from './pct.ts'

const MESSAGES: Readonly<Record<ContainerAction, string>> = {
  start: 'Démarrage demandé.',
  stop: 'Arrêt immédiat demandé.',
  shutdown: 'Arrêt demandé.',
  reboot: 'Redémarrage demandé.',
}

export default defineFunction({
  method: 'POST',
  path: '/api/hypervisor/containers/:vmid/:action',
  summary: 'Start or stop a container',
  description:
    'Starts, stops, shuts down or reboots a container: as a task of the hypervisor if the service has a token for its API, otherwise as a job.',
  auth: 'operator',
  targets: ({ params: { vmid } }) => [`lxc:${vmid}`],
  rateLimit: WRITES,
  audit: ['container_start', 'container_stop', 'container_shutdown', 'container_reboot'],
  request: { params: z.object({ vmid: GivenVmid, action: ContainerAction }) },
  status: 202,
  response: z.object({ task: TaskId, message: z.string() }),
  example: {
    response: { task: '1772366400-k3x9q2pa', message: MESSAGES.start },
  },
  errors: [
    ...API_ERRORS,
    'container_missing',
    'ssh_incomplete',
    'ssh_password_unreadable',
    'ssh_failed',
    'host_answer_too_long',
    'profile_missing',
    'account_kept_out',
    'queue_full',
  ],

  async handler({ params: { vmid, action } }, { db, user, host, jobs, settings, audit, auditEntry, log, fail }) {
    const audited = `container_${action}` as const
    const target = `lxc:${vmid}`
    const account = await findHostAccount(db, user.id)
    if (account?.kept_out) throw fail('account_kept_out')

    const start = async (): Promise<string> => {
      const access = await settings.hypervisor()
      if (access) {
        // The audit entry comes first: an action in the hypervisor cannot be undone when its entry cannot be written.
        const task = await actByApi(access, vmid, action, () => audit(audited, { target }))
        log.info({ target, action, task }, 'the hypervisor has a task')
        return task
      }
      await settings.sshAccount()
      // The token may outlive its user's record, and a job needs an owner.
      if (!account) throw fail('profile_missing')
      const number = startable((await listContainers(host, IN_TIME)).map(withoutFigures), vmid)
      return jobs.start({
        kind: containerJob.kind,
        args: { vmid: number, action },
        target,
        startedBy: user.id,
        announce: (task) => auditEntry(audited, { target, details: { task } }),
      })
    }

    try {
      return { task: await start(), message: MESSAGES[action] }
    } catch (error) {
      // The action was requested, and the hypervisor may have received it.
      if (error instanceof Failure && error.status === 502)
        await audit(audited, { target, details: { refused: error.message } })
      throw error
    }
  },
})

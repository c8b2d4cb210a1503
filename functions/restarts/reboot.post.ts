import * as z from 'zod'
import { OtherQueued } from '../../db/job-start.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { OWNER_ERRORS, requireOwner } from '../auth/job-owner.ts'
import { defineFunction } from '../services.ts'
import { lookAtHost } from './reboot-end.ts'
import { rebootJob } from './reboot-job.ts'
import { WAITING_SECONDS } from './reboot-script.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/hypervisor/host/reboot',
  summary: 'Reboot the host',
  description:
    'Starts a job that reboots the host; `confirm` is the host’s name. A client follows it like an upgrade. The hypervisor stops its guests in its own order. The job ends with success when the host has another `boot_id` and the containers run again that ran before, which are waited for during 5 minutes; its `warnings` name those that do not. Checks that run are waited for, and no other job begins before the end. Answers 409 `jobs_running` while a job runs or waits that is no check, and 409 `backup_running` while a backup runs. The job ends with `reboot_missing` when the host has the same boot after 15 minutes, and with `host_not_back` when it has not answered for so long.',
  auth: 'admin',
  stepUp: true,
  targets: () => ['host'],
  rateLimit: WRITES,
  audit: ['host_reboot'],
  request: {
    body: z.object({
      confirm: z
        .string()
        .max(300)
        .meta({ examples: ['pve1'] }),
    }),
  },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: { confirm: 'pve1' },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Redémarrage de l’hôte demandé.' },
  },
  errors: [
    'confirm_invalid',
    'backup_running',
    'jobs_running',
    ...OWNER_ERRORS,
    'ssh_failed',
    'host_answer_too_long',
    'queue_full',
  ],

  async handler({ body: { confirm } }, { db, user, host, settings, jobs, auditEntry, fail }) {
    await requireOwner({ db, settings, user })
    const { name, boot, seconds, backup } = await lookAtHost(host, user.id)
    if (confirm !== name) throw fail('confirm_invalid')
    if (backup) throw fail('backup_running')
    try {
      const job_id = await jobs.start({
        kind: rebootJob.kind,
        args: { name, boot, until: seconds + WAITING_SECONDS },
        target: 'host',
        startedBy: user.id,
        onlyBeside: ['check'],
        announce: (id) => auditEntry('host_reboot', { target: 'host', details: { job_id: id, boot_id: boot } }),
      })
      return { job_id, message: 'Redémarrage de l’hôte demandé.' }
    } catch (error) {
      if (!(error instanceof OtherQueued)) throw error
      throw fail('jobs_running', { cause: error, values: { job_id: error.id }, more: { job_id: error.id } })
    }
  },
})

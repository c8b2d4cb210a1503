import * as z from 'zod'
import { readCheck, upgradesOfAll } from '../../db/checks.ts'
import { findUser } from '../../db/users.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { parseTarget, shortened, Target } from '../hypervisor/target.ts'
import { defineFunction } from '../services.ts'
import { checkOf } from './check.ts'
import { RemedyAction } from './finding.ts'
import { remedyJob } from './remedy-job.ts'

/** The actions that this endpoint accepts. People carry out the others elsewhere: in a terminal or by another call. */
const REPAIR_ACTIONS: readonly string[] = ['repair_dpkg']

export default defineFunction({
  method: 'POST',
  path: '/api/updates/remedies',
  summary: 'Apply the remedy of a finding',
  description:
    'Starts a job with the remedy that a finding of the target’s last check names. A client follows it like an upgrade. `repair_dpkg` completes an interrupted run of dpkg.',
  auth: 'admin',
  rateLimit: WRITES,
  audit: ['remedy_start'],
  request: {
    body: z.object({
      target: Target,
      action: RemedyAction.meta({ override: { type: 'string', enum: [...REPAIR_ACTIONS] } }),
      packages: z.array(z.string().max(256)).max(1000).optional(),
      repository: z.string().max(1000).optional(),
    }),
  },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: {
    body: { target: 'lxc:101', action: 'repair_dpkg' },
    response: { job_id: '1772366400-k3x9q2pa', message: 'Réparation lancée.' },
  },
  errors: [
    'target_invalid',
    'ssh_incomplete',
    'ssh_password_unreadable',
    'profile_missing',
    'remedy_unknown',
    'queue_full',
  ],

  async handler({ body: { target, action } }, { db, user, settings, jobs, clock, auditEntry, fail }) {
    const parsed = parseTarget(target)
    if (!parsed || parsed.kind === 'all') throw fail('target_invalid', { values: { target: shortened(target) } })
    await settings.sshAccount()
    // The token may outlive its user's record, and a job needs an owner.
    if (!(await findUser(db, user.id))) throw fail('profile_missing')
    const row = await readCheck(db, target)
    const check = row && checkOf(row, await upgradesOfAll(db), clock())
    const isReported = check?.state !== 'stopped' && check?.findings.some(({ remedy }) => remedy?.action === action)
    if (!isReported || !REPAIR_ACTIONS.includes(action)) throw fail('remedy_unknown')
    const job_id = await jobs.start({
      kind: remedyJob.kind,
      args: { target, action },
      target,
      startedBy: user.id,
      announce: (id) => auditEntry('remedy_start', { target, details: { job_id: id, action } }),
    })
    return { job_id, message: 'Réparation lancée.' }
  },
})

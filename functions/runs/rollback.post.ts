import * as z from 'zod'
import { AlreadyQueued } from '../../db/job-start.ts'
import { runningJobOf } from '../../db/job-list.ts'
import { snapshotOfJob } from '../../db/snapshots.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { OWNER_ERRORS, requireOwner } from '../auth/job-owner.ts'
import { findUpdateJob } from '../jobs/job-record.ts'
import { defineFunction } from '../services.ts'
import { rollbackJob } from './rollback-job.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/updates/jobs/:id/rollback',
  summary: 'Go back to before an upgrade',
  description:
    'Starts a job that takes the container back to the snapshot that the upgrade has made, and starts it. Everything that was written in the container since then is lost, on its volumes too. For a backup the container is destroyed and made anew from it: the request then needs `restore: true`, and 409 `rollback_impossible` says what is lost without it. Answers 409 `rollback_impossible` where there is nothing to go back to, or another job of the container runs.',
  auth: 'admin',
  rateLimit: WRITES,
  audit: ['update_rollback'],
  request: { params: z.object({ id: JobId }), body: z.object({ restore: z.boolean().optional() }).optional() },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: { body: {}, response: { job_id: '1772366400-k3x9q2pa', message: 'Retour en arrière lancé.' } },
  errors: ['job_missing', 'rollback_impossible', 'queue_full', ...OWNER_ERRORS],

  async handler({ params: { id }, body }, { db, user, settings, jobs, auditEntry, fail }) {
    const job = await findUpdateJob(db, id)
    if (job?.kind !== 'upgrade') throw fail('job_missing')
    const impossible = (reason: string) => fail('rollback_impossible', { values: { reason } })
    if (job.status === 'running') throw impossible('la mise à jour n’est pas finie.')
    const snapshot = await snapshotOfJob(db, id)
    if (!snapshot) throw impossible('cette mise à jour n’a pas d’instantané.')
    if (!snapshot.present) throw impossible('l’instantané de cette mise à jour a été supprimé.')
    if (snapshot.kind === 'backup' && body?.restore !== true)
      throw impossible(
        'la sauvegarde remplace tout le conteneur, et ses volumes qui n’y sont pas sont détruits. Envoyez restore: true pour le vouloir.',
      )
    const other = await runningJobOf(db, job.target, ['upgrade', 'rollback', 'snapshot', 'remedy'])
    if (other !== undefined) throw impossible(`la tâche ${other} du même conteneur est en cours.`)
    await requireOwner({ db, settings, user })
    const { name, kind, location } = snapshot
    const start = () =>
      jobs.start({
        kind: rollbackJob.kind,
        args: { target: job.target, of: id, name, kind, location },
        target: job.target,
        startedBy: user.id,
        alone: true,
        announce: (started) =>
          auditEntry('update_rollback', { target: job.target, details: { job_id: started, of: id, snapshot: name } }),
      })
    const job_id = await start().catch((error: unknown) => {
      throw error instanceof AlreadyQueued ? impossible(`la tâche ${error.id} du même conteneur est en cours.`) : error
    })
    return { job_id, message: 'Retour en arrière lancé.' }
  },
})

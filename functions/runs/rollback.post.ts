import * as z from 'zod'
import { AlreadyQueued } from '../../db/job-start.ts'
import { runningJobOf } from '../../db/job-list.ts'
import { snapshotOfJob } from '../../db/snapshots.ts'
import { JobId } from '../../jobs/jobs.ts'
import { WRITES } from '../../runtime/function.ts'
import { OWNER_ERRORS, requireOwner } from '../auth/job-owner.ts'
import { findUpdateJob } from '../jobs/job-record.ts'
import { defineFunction, fail } from '../services.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { lossesOf } from '../protection/archive.ts'
import { protectedRunOf } from '../protection/run-record.ts'
import { rollbackJob } from './rollback-job.ts'
import { targetsOfJob } from '../jobs/job-targets.ts'

/** The host is asked for the volumes of a container whose backup is to be restored. */
const HOST_ERRORS = ['ssh_failed', 'host_answer_too_long'] as const

export default defineFunction({
  method: 'POST',
  path: '/api/updates/jobs/:id/rollback',
  summary: 'Go back to before an upgrade',
  description:
    'Starts a job that takes the container back to the snapshot that the upgrade has made, and starts it. Everything that was written in the container since then is lost, on its volumes too. For a backup the container is destroyed and made anew from it, with all its snapshots: the request then needs `restore: true`. Without it, 409 `rollback_impossible` says what is lost, and `destroys` names each volume that is not in the backup. Answers 409 `rollback_impossible` where there is nothing to go back to, or another job of the container runs.',
  auth: 'admin',
  stepUp: true,
  targets: targetsOfJob,
  rateLimit: WRITES,
  audit: ['update_rollback'],
  request: { params: z.object({ id: JobId }), body: z.object({ restore: z.boolean().optional() }).optional() },
  status: 202,
  response: z.object({ job_id: JobId, message: z.string() }),
  example: { body: {}, response: { job_id: '1772366400-k3x9q2pa', message: 'Retour en arrière lancé.' } },
  errors: ['job_missing', 'rollback_impossible', 'queue_full', ...OWNER_ERRORS, ...HOST_ERRORS],

  async handler({ params: { id }, body }, { db, host, user, settings, jobs, auditEntry }) {
    const job = await findUpdateJob(db, id)
    if (job?.kind !== 'upgrade' && job?.kind !== 'application') throw fail('job_missing')
    const impossible = (reason: string) => fail('rollback_impossible', { values: { reason } })
    if (job.status === 'running') throw impossible('la mise à jour n’est pas finie.')
    const snapshot = await snapshotOfJob(db, id)
    if (!snapshot) throw impossible('cette mise à jour n’a pas d’instantané.')
    if (!snapshot.present) {
      throw impossible(
        snapshot.kind === 'backup'
          ? 'la sauvegarde de cette mise à jour n’existe plus.'
          : 'l’instantané de cette mise à jour n’existe plus.',
      )
    }
    const other = await runningJobOf(db, job.target, ['upgrade', 'application', 'rollback', 'snapshot', 'remedy'])
    if (other !== undefined) throw impossible(`la tâche ${other} du même conteneur est en cours.`)
    await requireOwner({ db, settings, user })
    const { name, kind, location } = snapshot
    if (kind === 'backup' && (await host.elevation()) === 'helper')
      throw impossible('le programme restreint de l’hôte (ops-panel-host) ne restaure pas de sauvegarde.')
    const archived = kind === 'backup' ? (protectedRunOf(job)?.archived ?? null) : null
    const losses = kind === 'backup' ? await lossesOf(host, containerOf(job.target), archived) : []
    if (kind === 'backup' && body?.restore !== true) {
      const destroys = losses.map(({ key, at }) => `${key} (${at})`)
      throw fail('rollback_impossible', { values: { reason: warning(destroys) }, more: { destroys } })
    }
    const agreed = losses.map(({ key }) => key)
    const start = () =>
      jobs.start({
        kind: rollbackJob.kind,
        args: { target: job.target, of: id, name, kind, location, archived, agreed },
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

function containerOf(text: string): string {
  const target = parseTarget(text)
  if (target?.kind !== 'container') throw fail('target_invalid', { values: { target: text } })
  return target.id
}

/** Says what the restoration of a backup destroys. */
function warning(destroys: readonly string[]): string {
  return destroys.length === 0
    ? 'la sauvegarde remplace tout le conteneur : ce qui y a été écrit depuis est perdu, et ses instantanés aussi. Elle a tous ses volumes. Envoyez restore: true pour le vouloir.'
    : `la sauvegarde remplace tout le conteneur : ce qui y a été écrit depuis est perdu, et ses instantanés aussi. Ces volumes n’y sont pas, et seront détruits : ${destroys.join(', ')}. Envoyez restore: true pour le vouloir.`
}

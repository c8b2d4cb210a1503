import type { JobBounds, QueueFull } from '../db/job-start.ts'
import { type ErrorTable, type Failure, failuresOf } from '../runtime/errors.ts'

/** Error codes of jobs, each with its HTTP status and French sentence. */
export const JOBS_ERRORS = {
  queue_full: [
    429,
    'Trop de tâches sont en cours ou attendent : au plus {ofTarget} par utilisateur pour une même cible, {most}. Attendez que l’une d’elles se termine.',
    { retryAfter: true },
  ],
  job_kind_missing: [
    500,
    'Le service ne connaît plus ce type de tâche ({kind}) : ce qui l’apportait a été retiré, ou n’a pas pu être chargé.',
  ],
  job_not_started: [502, 'Erreur SSH : {message}'],
  host_rebooted: [502, 'Erreur SSH : l’hôte a redémarré avant la fin de la tâche'],
  job_killed: [502, 'Erreur SSH : la tâche a été arrêtée de force sur l’hôte'],
  job_folder_missing: [502, 'Erreur SSH : le dossier de la tâche a disparu de l’hôte'],
  job_code_missing: [502, 'Erreur SSH : le code de sortie de la tâche n’a pas pu être écrit (disque plein ?)'],
} as const satisfies ErrorTable

/** Creates a failure of this room, to be thrown. */
export const jobFailure = failuresOf(JOBS_ERRORS)

/** Jobs last minutes, so an earlier attempt would meet the same full queue. */
const FULL_SECONDS = 30

/** Creates the failure of a start that the bounds of its kind, or those of runs, have refused. */
export function queueFull(cause: QueueFull, bounds: JobBounds | undefined): Failure {
  const { ofTarget = '', ofUser = '', ofAll = '' } = bounds ?? {}
  const most = cause.mostInRuns
    ? `${cause.mostInRuns} par utilisateur dans ses lancements de plusieurs cibles`
    : `${ofUser} par utilisateur, ${ofAll} en tout`
  return jobFailure('queue_full', { cause, retryAfter: FULL_SECONDS, values: { ofTarget, most } })
}

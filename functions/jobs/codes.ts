import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of asking for a job and cancelling it: the stable code, its HTTP status, its French sentence. */
export const JOBS_AREA_ERRORS = {
  job_missing: [404, 'Cette tâche n’existe pas.'],
  job_ended: [409, 'Cette tâche est déjà terminée.'],
} as const satisfies ErrorTable

/** Audit actions of cancelling a job, of any kind. */
export const JOBS_AREA_ACTIONS = ['update_cancel'] as const

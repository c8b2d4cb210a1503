import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of checks, upgrades and other jobs: the stable code, its HTTP status, its French sentence. */
export const UPDATES_ERRORS = {
  target_missing: [400, 'La cible est obligatoire.'],
  target_invalid: [400, 'Cible invalide : {target}'],
  job_missing: [404, 'Cette tâche n’existe pas.'],
  job_ended: [409, 'Cette tâche est déjà terminée.'],
  check_missing: [404, 'Cette cible n’a jamais été vérifiée.'],
  remedy_unknown: [422, 'Cette cible n’a rien que cette action puisse réparer. Vérifiez-la à nouveau.'],
} as const satisfies ErrorTable

/** Audit actions of checks, upgrades and other jobs. */
export const UPDATES_ACTIONS = ['update_start', 'update_cancel', 'check_start', 'remedy_start'] as const

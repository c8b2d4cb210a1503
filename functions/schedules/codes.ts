import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of schedules and their runs: the stable code, its HTTP status, its French sentence. */
export const SCHEDULES_ERRORS = {
  schedule_invalid: [400, 'Cette planification n’est pas valable.'],
  schedule_missing: [404, 'Cette planification n’existe pas.'],
  schedule_run_missing: [404, 'Cette exécution n’existe pas.'],
  schedules_full: [409, 'Il y a déjà {most} planifications : supprimez-en une d’abord.'],
  schedule_changed: [409, 'Cette planification vient d’être modifiée : relisez-la, puis recommencez.'],
  schedule_running: [409, 'Une exécution de cette planification est en cours.'],
  schedules_paused: [409, 'Toutes les planifications sont suspendues : reprenez-les d’abord.'],
  schedule_run_ended: [409, 'Cette exécution est terminée.'],
} as const satisfies ErrorTable

/** Actions that schedules write to the audit log. */
export const SCHEDULES_ACTIONS = [
  'schedule_create',
  'schedule_change',
  'schedule_delete',
  'schedule_run',
  'schedule_cancel',
  'schedule_pause_all',
] as const

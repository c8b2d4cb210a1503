import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of targets and upgrades: the stable code, its HTTP status, its French sentence. */
export const UPDATES_ERRORS = {
  target_missing: [400, 'La cible est obligatoire.'],
  target_invalid: [400, 'Cible invalide : {target}'],
} as const satisfies ErrorTable

/** Audit actions of upgrades. */
export const UPDATES_ACTIONS = ['update_start'] as const

import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of checks and remedies: the stable code, its HTTP status, its French sentence. */
export const CHECKS_ERRORS = {
  check_missing: [404, 'Cette cible n’a jamais été vérifiée.'],
  remedy_unknown: [422, 'Cette cible n’a rien que cette action puisse réparer. Vérifiez-la à nouveau.'],
} as const satisfies ErrorTable

/** Audit actions of checks and remedies. */
export const CHECKS_ACTIONS = ['check_start', 'remedy_start'] as const

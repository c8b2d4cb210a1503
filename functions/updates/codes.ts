import { JobId } from '../../jobs/jobs.ts'
import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of targets and upgrades: the stable code, its HTTP status, its French sentence. */
export const UPDATES_ERRORS = {
  target_missing: [400, 'La cible est obligatoire.'],
  target_invalid: [400, 'Cible invalide : {target}'],
  changelog_missing: [404, 'Il n’y a pas de journal des modifications pour cette version du paquet.'],
  already_queued: [
    409,
    'Une mise à jour de cette cible est déjà en cours ou en attente : suivez-la, ou faites un plan pour la suivante.',
    { more: { job_id: JobId } },
  ],
  changelog_unavailable: [502, 'Le journal des modifications n’a pas pu être obtenu : {reason}'],
} as const satisfies ErrorTable

/** Audit actions of upgrades. */
export const UPDATES_ACTIONS = ['update_start'] as const

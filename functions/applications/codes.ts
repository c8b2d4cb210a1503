import { JobId } from '../../jobs/jobs.ts'
import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of applications: the stable code, its HTTP status, its French sentence. */
export const APPLICATIONS_ERRORS = {
  application_missing: [404, 'La dernière vérification de cette cible n’a pas trouvé cette application.'],
  source_changed: [
    409,
    'Ce que donne l’adresse n’est pas ce qui a été accepté : rien n’a été exécuté. Relisez le script, puis acceptez-le.',
  ],
  not_agreed: [422, 'Personne n’a accepté ce que cette mise à jour exécute : relisez le script, puis acceptez-le.'],
  application_queued: [
    409,
    'Une mise à jour de cette application est déjà en cours ou en attente : suivez-la.',
    { more: { job_id: JobId } },
  ],
  application_unsupported: [
    422,
    'Le panneau ne sait pas mettre à jour cette application : utilisez un terminal du conteneur.',
  ],
  source_unavailable: [502, 'Ce que cette mise à jour exécute n’a pas pu être obtenu ({address}) : {reason}'],
  application_asks: [
    409,
    'La mise à jour pose une question à laquelle personne ne peut répondre ici : elle a été arrêtée. Lancez « update » dans un terminal.',
  ],
  application_refused: [
    409,
    'La mise à jour a voulu exécuter un code que personne n’a accepté : elle a été arrêtée. La sortie dit lequel.',
  ],
  application_not_begun: [409, 'La mise à jour n’a pas commencé : rien n’a été exécuté. La sortie dit pourquoi.'],
  application_not_installed: [
    409,
    'Le script n’a pas trouvé l’application qu’il met à jour : rien n’a été mis à jour.',
  ],
} as const satisfies ErrorTable

/** Actions that applications write to the audit log. */
export const APPLICATIONS_ACTIONS = ['application_agree', 'application_start', 'application_withdraw'] as const

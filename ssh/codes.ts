import { type ErrorTable, failuresOf } from '../runtime/errors.ts'

/** Errors of the host over SSH: the stable code, its HTTP status and its French message. */
export const SSH_ERRORS = {
  ssh_failed: [502, 'Erreur SSH : {message}'],
  host_answer_too_long: [502, 'Réponse inutilisable : {message}.'],
  host_helper_lacks: [
    502,
    'Le compte de service n’a de droits que par ops-panel-host, qui ne permet pas cette action : {what}.',
  ],
  terminals_busy: [503, 'Trop de terminaux sont ouverts ({most} au plus) : fermez-en un.'],
} as const satisfies ErrorTable

/** Creates a Failure with one of these codes. */
export const sshFailure = failuresOf(SSH_ERRORS)

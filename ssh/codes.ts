import { type ErrorTable, failuresOf } from '../runtime/errors.ts'

/** Errors of the host over SSH: the stable code, its HTTP status and its French message. */
export const SSH_ERRORS = {
  ssh_failed: [502, 'Erreur SSH : {message}'],
  host_answer_too_long: [502, 'Réponse inutilisable : {message}.'],
  host_helper_lacks: [
    502,
    'Le compte de service n’a de droits que par ops-panel-host, qui ne permet pas cette action : {what}.',
  ],
  ssh_host_missing: [503, 'L’hôte SSH n’est pas configuré.'],
  ssh_incomplete: [
    503,
    'La configuration SSH est incomplète : l’hôte, l’utilisateur et son mot de passe ou sa clé sont nécessaires (« ops-panel settings set » sur la console du service).',
  ],
  ssh_password_unreadable: [
    503,
    'Le mot de passe ou la clé SSH enregistrés ne peuvent pas être déchiffrés. Enregistrez l’un des deux à nouveau (« ops-panel settings set ssh_password » ou « ssh_key » sur la console du service).',
  ],
  terminals_busy: [503, 'Trop de terminaux sont ouverts ({most} au plus) : fermez-en un.'],
} as const satisfies ErrorTable

/** Creates a Failure with one of these codes. */
export const sshFailure = failuresOf(SSH_ERRORS)

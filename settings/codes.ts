import { type ErrorTable, failuresOf } from '../runtime/errors.ts'

/** Errors of the settings: the stable code, its HTTP status and its French message. */
export const SETTINGS_ERRORS = {
  ssh_host_missing: [503, 'L’hôte SSH n’est pas configuré.'],
  ssh_incomplete: [
    503,
    'La configuration SSH est incomplète : l’hôte, l’utilisateur et le mot de passe sont nécessaires (« ops-panel settings set » sur la console du service).',
  ],
  ssh_password_unreadable: [
    503,
    'Le mot de passe SSH enregistré ne peut pas être déchiffré. Saisissez-le à nouveau (« ops-panel settings set ssh_password » sur la console du service).',
  ],
  hypervisor_token_unreadable: [
    503,
    'Le jeton de l’hyperviseur enregistré ne peut pas être déchiffré. Saisissez-le à nouveau.',
  ],
} as const satisfies ErrorTable

/** Creates a Failure with one of these codes. */
export const settingsFailure = failuresOf(SETTINGS_ERRORS)

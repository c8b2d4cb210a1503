import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of changing settings: the stable code, its HTTP status, its French sentence. */
export const SETTINGS_AREA_ERRORS = {
  host_key_required: [
    409,
    'Pour changer d’adresse ou de clé d’hôte, indiquez l’empreinte que vous avez comparée (ssh_host_key).',
  ],
  hypervisor_token_required: [
    409,
    'L’adresse de l’hyperviseur change : donnez aussi son jeton (hypervisor_token), qui n’est envoyé à aucune autre machine.',
  ],
} as const satisfies ErrorTable

/** Audit actions of changing settings. */
export const SETTINGS_AREA_ACTIONS = ['host_key_changed', 'settings_changed'] as const

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
  ssh_key_none_waiting: [
    409,
    'Aucune nouvelle clé n’attend d’être confirmée, ou une autre l’a été entre-temps. Recommencez le changement de clé.',
  ],
  ssh_key_refused: [
    409,
    'L’hôte refuse la nouvelle clé de {username}. Vérifiez que sa ligne est dans ses clés ; l’ancienne reste en service.',
  ],
  sudo_wants_password: [
    409,
    'Le mot de passe de {username} ne peut pas être oublié, car sudo le demande. Ajoutez d’abord sur l’hôte la règle sudo : {rule}',
  ],
} as const satisfies ErrorTable

/** Audit actions of changing settings. */
export const SETTINGS_AREA_ACTIONS = ['host_key_changed', 'settings_changed', 'ssh_key_rotated'] as const

import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of the installation: the stable code, its HTTP status, its French sentence. */
export const INSTALL_ERRORS = {
  setup_token_wrong: [
    403,
    'Ce n’est pas le jeton d’installation. Il est affiché au démarrage et enregistré dans le dossier des données (setup-token).',
  ],
  already_installed: [409, 'L’installation est déjà faite. Les réglages se changent dans le panneau.'],
  ssh_key_missing: [409, 'Demandez d’abord la clé du compte de service, et ajoutez sa ligne sur l’hôte.'],
  host_check_failed: [502, 'L’hôte ne peut pas être utilisé : {message}'],
  host_helper_old: [
    502,
    'L’assistant ops-panel-host de l’hôte est en version {version}, et il faut la version {needed} : « ops-panel host helper » dit comment le remplacer.',
  ],
} as const satisfies ErrorTable

/** Audit actions of the installation. */
export const INSTALL_ACTIONS = ['installed'] as const

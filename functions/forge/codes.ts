import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of the forge's settings and of its certificate: the stable code, its HTTP status, its French sentence. */
export const FORGE_ERRORS = {
  forge_certificate: [
    502,
    'Le certificat de la forge {message} : {fingerprint}. Comparez cette empreinte à celle que montre la forge, puis enregistrez-la dans les réglages (forge_fingerprint).',
  ],
  forge_missing: [
    503,
    'Aucune forge n’est configurée : donnez son adresse et son organisation dans les réglages (forge_url, forge_org).',
  ],
  forge_token_unreadable: [503, 'Le jeton de la forge enregistré ne peut pas être déchiffré. Saisissez-le à nouveau.'],
  forge_url_required: [
    409,
    'Donnez l’adresse de la forge (forge_url) avant ou avec son jeton, qui n’est envoyé à aucune autre adresse.',
  ],
} as const satisfies ErrorTable

import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of signing in by passkey and of console links: the stable code, its HTTP status, its French sentence. */
export const PASSKEYS_ERRORS = {
  passkey_refused: [401, 'Cette clé d’accès n’ouvre aucun compte ici : connectez-vous autrement.'],
  passkey_sign_in_off: [403, 'Une clé d’accès seule ne connecte personne ici (voir PANEL_PASSKEY_SIGN_IN).'],
  account_unusable: [403, 'Ce compte n’existe plus sur l’hôte, ou y est verrouillé ou expiré.'],
  host_account_missing: [
    409,
    'L’hôte ne connaît pas ce compte, ou ne le laisse pas travailler : créez-le ou corrigez-le d’abord.',
  ],
  host_silent: [503, 'L’hôte ne confirme pas ce compte pour l’instant. Réessayez plus tard.'],
} as const satisfies ErrorTable

/** Audit actions of console links. */
export const PASSKEYS_ACTIONS = ['enrolment_link_made', 'enrolment_link_used'] as const

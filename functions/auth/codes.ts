import * as z from 'zod'
import type { ErrorTable } from '../../runtime/errors.ts'

/** The questions of a host that asks more than a password. */
const PROMPTS = {
  challenge: z.string().meta({ description: 'To be given back with the answers, within 100 s of the first request.' }),
  prompts: z
    .array(z.object({ text: z.string(), echo: z.boolean() }))
    .meta({ description: 'The questions of the host, in its own words. `echo`: the answer may be shown.' }),
}

/** Errors of signing in, sessions and accounts: the stable code, its HTTP status, its French sentence. */
export const AUTH_ERRORS = {
  credentials_missing: [400, 'Le nom d’utilisateur et le mot de passe sont obligatoires.'],
  preference_invalid: [400, 'Préférence invalide : {field}'],
  bad_credentials: [401, 'Nom d’utilisateur ou mot de passe incorrect.'],
  more_asked: [401, 'L’hôte demande plus que le mot de passe.', { more: PROMPTS }],
  answers_refused: [401, 'L’hôte n’a pas accepté ces réponses : recommencez la connexion.'],
  answers_miscounted: [400, 'Répondez à chacune des questions de l’hôte.'],
  challenge_elsewhere: [
    409,
    'Une autre instance de ce service attend cette réponse, ou le service a redémarré : recommencez la connexion.',
  ],
  prompts_impossible: [
    501,
    'L’hôte demande plus que le mot de passe, et cet hébergement ne peut pas attendre de réponse.',
  ],
  passwords_not_taken: [401, 'L’hôte n’accepte aucun mot de passe, seulement des clés SSH.'],
  password_expired: [
    401,
    'Votre mot de passe a expiré. Changez-le sur l’hôte, par ssh ou à sa console, puis connectez-vous.',
  ],
  ssh_unreachable: [401, 'Connexion impossible : l’hôte SSH ne répond pas.'],
  ssh_throttled: [
    401,
    'Connexion impossible : l’hôte SSH refuse pour l’instant les connexions de ce service, après des mots de passe incorrects ou trop de connexions à la fois. Réessayez dans une minute.',
  ],
  host_key_changed: [401, 'Connexion refusée : la clé de l’hôte SSH a changé. Prévenez un administrateur.'],
  not_invited: [403, 'Ce compte n’est dans aucun des groupes admis dans ce panneau.'],
  account_barred: [403, 'Un administrateur a exclu ce compte de ce panneau.'],
  rights_unknown: [
    503,
    'Connexion impossible : l’hôte n’indique pas pour l’instant les groupes de ce compte, dont vos droits dépendent.',
  ],
  account_kept_out: [
    403,
    'Ce compte ne peut pas travailler sur l’hôte (shell sans commandes, mot de passe à changer, compte expiré) : corrigez cela sur l’hôte, puis reconnectez-vous.',
  ],
  login_rate_limited: [429, 'Trop de tentatives de connexion. Réessayez dans {seconds} s.', { retryAfter: true }],
  login_busy: [503, 'Trop de connexions en cours. Réessayez dans {seconds} s.', { retryAfter: true }],
  refresh_missing: [401, 'Aucune session : connectez-vous.'],
  refresh_invalid: [401, 'Votre session est invalide ou a expiré. Reconnectez-vous.', { badToken: true }],
  session_ended: [401, 'Votre session est terminée. Reconnectez-vous.', { badToken: true }],
  user_missing: [401, 'Ce compte n’existe plus.', { badToken: true }],
  session_missing: [404, 'Cette session n’existe pas.'],
  profile_missing: [404, 'Ce profil n’existe plus.'],
  proof_required: [403, 'Confirmez ce changement avec votre mot de passe (current_password).'],
  proof_wrong: [403, 'L’hôte n’a pas accepté votre mot de passe : rien n’a changé.'],
  // Not 401, which would mean that the session has ended.
  proof_more_asked: [403, 'L’hôte demande plus que le mot de passe.', { more: PROMPTS }],
  proof_needs_factor: [
    403,
    'Cet hôte ne se contente pas de votre mot de passe : ajoutez un second facteur à votre compte, ou attendez que le dernier ajouté ait 24 h, puis recommencez. Les réglages se changent aussi sur la console du serveur : ops-panel settings set.',
  ],
  proof_impossible: [
    503,
    'L’hôte actuel ne peut pas vérifier votre mot de passe ({message}). Sur la console du serveur : ops-panel settings set.',
  ],
} as const satisfies ErrorTable

/** Audit actions of signing in, sessions and accounts. */
export const AUTH_ACTIONS = [
  'login_rate_limited',
  'login_failed',
  'login_asked',
  'login_success',
  'proof_refused',
  'logout',
  'session_revoked',
  'sessions_ended',
  'account_ended',
  'rights_changed',
  'keys_rotated',
] as const

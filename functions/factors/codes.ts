import * as z from 'zod'
import type { ErrorTable } from '../../runtime/errors.ts'
import { RequestOptions } from './passkey-shapes.ts'

/** The kinds of second factor that can be asked. Recovery codes come with the first factor. */
export const FACTOR_KINDS = ['totp', 'passkey', 'recovery'] as const
export type FactorKind = (typeof FACTOR_KINDS)[number]

/** The fields that an answer with a second factor needs. */
const ASKED = {
  challenge: z.string().meta({ description: 'To be given back with the answer.' }),
  factors: z.array(z.enum(FACTOR_KINDS)).meta({ description: 'The kinds of factor that are accepted.' }),
  passkey: RequestOptions.optional().meta({ description: 'What to ask the browser, where a passkey is accepted.' }),
}

/** Errors of second factors: the stable code, its HTTP status, its French sentence. */
export const FACTORS_ERRORS = {
  factor_required: [401, 'Confirmez la connexion avec votre second facteur.', { more: ASKED }],
  // Not 401, which would mean that the session has ended.
  factor_proof_required: [403, 'Confirmez avec votre second facteur : le mot de passe ne suffit pas.', { more: ASKED }],
  factor_wrong: [403, 'Cette réponse n’est pas la bonne, ou a déjà servi.'],
  factor_missing: [404, 'Ce second facteur n’existe pas.'],
  factor_needed: [
    409,
    'Ce service exige un second facteur, et celui-ci est votre dernier : ajoutez-en d’abord un autre.',
  ],
  factors_full: [409, 'Vous avez déjà {most} seconds facteurs : supprimez-en un d’abord.'],
  passkeys_need_name: [
    409,
    'Les clés d’accès demandent que le panneau soit ouvert par un nom et en HTTPS, jamais par une adresse IP. Derrière un proxy, définissez PANEL_PUBLIC_URL.',
  ],
  passkey_known: [409, 'Cette clé d’accès est déjà enregistrée.'],
  passkey_invalid: [422, 'Ce service n’accepte pas cette clé d’accès : recommencez, ou prenez-en une autre.'],
  challenge_over: [410, 'Cette demande n’est plus valable : recommencez.'],
  factor_locked: [429, 'Trop de réponses à ce second facteur. Réessayez dans {seconds} s.', { retryAfter: true }],
} as const satisfies ErrorTable

/** Audit actions of second factors. */
export const FACTORS_ACTIONS = [
  'factor_add',
  'factor_refused',
  'factor_remove',
  'factors_reset',
  'recovery_codes_made',
  'step_up',
  'step_up_refused',
] as const

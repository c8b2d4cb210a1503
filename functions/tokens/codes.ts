import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of API tokens: the stable code, its HTTP status, its French sentence. */
export const TOKENS_ERRORS = {
  token_expiry_invalid: [
    400,
    'Un jeton expire dans 400 jours au plus : indiquez une durée (expires_in_days) ou une date à venir (expires_at), pas les deux.',
  ],
  token_exceeds: [403, 'Un jeton ne peut pas avoir plus de droits que vous : changez son rôle ou ses cibles.'],
  token_missing: [404, 'Ce jeton n’existe pas.'],
  tokens_full: [409, 'Vous avez déjà {most} jetons : révoquez-en un.'],
} as const satisfies ErrorTable

/** Audit actions of API tokens. */
export const TOKENS_ACTIONS = ['token_created', 'token_revoked'] as const

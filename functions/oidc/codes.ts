import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of signing in by a provider: the stable code, its HTTP status, its French sentence. */
export const OIDC_ERRORS = {
  oidc_denied: [401, 'Connexion impossible : {message}.'],
  oidc_invalid: [401, 'Connexion refusée : {message}. Recommencez depuis la page de connexion.'],
  oidc_unreachable: [503, 'Connexion impossible : {message}.'],
} as const satisfies ErrorTable

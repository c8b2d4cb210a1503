import type { ErrorTable } from '../../runtime/errors.ts'

/** Errors of the accounts of everybody, and of the audit log's export. */
export const ACCESS_ERRORS = {
  account_unknown: [404, 'Ce compte ne s’est jamais connecté à ce panneau.'],
  bar_self: [409, 'Vous ne pouvez pas exclure votre propre compte.'],
} as const satisfies ErrorTable

/** Audit actions of administrators about the accounts of others. */
export const ACCESS_ACTIONS = ['account_barred', 'account_unbarred'] as const

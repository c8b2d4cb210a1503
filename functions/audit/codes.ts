/** Audit actions of the audit log itself. */
export const AUDIT_AREA_ACTIONS = ['audit_exported'] as const

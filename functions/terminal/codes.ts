/** Audit actions of terminals. */
export const TERMINAL_ACTIONS = ['terminal_open', 'terminal_close'] as const

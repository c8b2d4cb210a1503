import { type ErrorTable, failuresOf } from '../runtime/errors.ts'

/** Error codes of sending notifications, each with its HTTP status and French sentence. */
export const NOTIFICATIONS_ERRORS = {
  channel_refused: [502, 'Le message n’a pas été pris : {message}'],
} as const satisfies ErrorTable

export const notificationsFailure = failuresOf(NOTIFICATIONS_ERRORS)

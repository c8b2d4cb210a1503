/*
 * Events that people are told of. They are stored with what they tell of, in one transaction; without that, a killed
 * service could have done something that nobody hears of.
 */
import type { Statement } from '../libsql/database.ts'
import { storedText } from '../libsql/text.ts'

/**
 * The run of events of checks of single targets, which end at any time. It never ends, so its notice is made some minutes
 * after its first event: many containers that get the same updates are one notice.
 */
export const CHECKS_GROUP = 'checks'

/**
 * The run of a user's sign-ins from new addresses. It is at work for some minutes after a notice of them, so the first
 * is told at once, and those of an account that changes its address all the time are a few notices an hour.
 */
export function signInsGroup(userId: number): string {
  return `${SIGN_INS}${userId}`
}
export const SIGN_INS = 'sign_in:'

export interface NewEvent {
  key: string
  at: string
  event: string
  severity: string
  target: string | null
  run: string | null
  details: string
}

/** Makes the statement that stores an event unless there is one with its key. It has no `WHERE`, for `onlyIf`. */
export function addEvent({ key, at, event, severity, target, run, details }: NewEvent): Statement {
  return {
    sql: `INSERT OR IGNORE INTO notification_events (key, at, event, severity, target, run, details)
          SELECT ?, ?, ?, ?, ?, ?, ?`,
    args: [key, at, event, severity, target && storedText(target), run, storedText(details)],
  }
}

import { randomUUID } from 'node:crypto'
import type { Statement } from '../../db/libsql/database.ts'
import { type Clock, timestamp } from '../../platform/clock.ts'
import { eventStatement } from '../../notifications/notifications.ts'

/** Makes the event of changed settings, with their names alone, for the transaction of the change. */
export function changeEvent(
  { clock }: { clock: Clock },
  { username, keys }: { username: string; keys: readonly string[] },
): Statement {
  const key = `settings_changed:${randomUUID()}`
  const details = { username, keys: [...keys] }
  return eventStatement({ key, at: timestamp(clock()), event: 'settings_changed', target: null, details })
}

import * as z from 'zod'
import type { Database } from '../../../db/libsql/database.ts'

const Event = z.object({
  event: z.string(),
  severity: z.string(),
  target: z.string().nullable(),
  run: z.string().nullable(),
  at: z.string(),
  details: z.string().transform((text) => z.record(z.string(), z.unknown()).parse(JSON.parse(text))),
})

/** Returns the stored events, oldest first. */
export function told(db: Database): Promise<z.infer<typeof Event>[]> {
  return db.query(Event, 'SELECT event, severity, target, run, at, details FROM notification_events ORDER BY id')
}

/** Returns each stored event with its target. */
export async function toldNames(db: Database): Promise<string[]> {
  return (await told(db)).map(({ event, target }) => `${event} ${target ?? '-'}`)
}

/*
 * Notices as they are listed, each with its worst events. Without a bound on these, one page could contain the events of
 * hundreds of containers a hundred times.
 */
import * as z from 'zod'
import type { Database } from '../libsql/database.ts'
import { StoredText } from '../libsql/text.ts'

const Notice = z.object({
  id: z.number(),
  at: z.string(),
  event: z.string(),
  severity: z.string(),
  target: StoredText.nullable(),
})

const Event = Notice.extend({
  notice_id: z.number(),
  run: z.string().nullable(),
  details: StoredText.transform((text): unknown => JSON.parse(text)),
  of: z.number(),
})

const Delivery = z.object({
  notice_id: z.number(),
  channel_id: z.string(),
  state: z.string(),
  attempts: z.number(),
  last_error: StoredText.nullable(),
  delivered_at: z.string().nullable(),
  next_ms: z.number().nullable(),
})

const Count = z.object({ notice_id: z.number(), event: z.string(), count: z.number() })

/** A notice with its first events, the worst first, the number of all events of each kind, and its deliveries. */
export interface ListedNotice extends z.infer<typeof Notice> {
  events: z.infer<typeof Event>[]
  /** Undefined where `events` are all of them. */
  counts: ReadonlyMap<string, number> | undefined
  deliveries: z.infer<typeof Delivery>[]
}

/**
 * Reads the newest notices first: those with an id below `before`, where it is given. `worstFirst` has the names of all events,
 * and a notice has `most` of its events.
 */
export async function listNotices(
  db: Database,
  { limit, before }: { limit: number; before: number | undefined },
  { worstFirst, most }: { worstFirst: readonly string[]; most: number },
): Promise<ListedNotice[]> {
  const notices = await db.query(
    Notice,
    'SELECT id, at, event, severity, target FROM notices WHERE id < ? ORDER BY id DESC LIMIT ?',
    [before ?? Number.MAX_SAFE_INTEGER, limit],
  )
  const ids = JSON.stringify(notices.map(({ id }) => id))
  const events = await db.query(
    Event,
    `WITH ranks AS (SELECT value AS event, key AS rank FROM json_each(?)), placed AS (
       SELECT events.*, count(*) OVER (PARTITION BY notice_id) AS of,
         row_number() OVER (PARTITION BY notice_id ORDER BY rank, events.id) AS nth
       FROM notification_events AS events LEFT JOIN ranks ON ranks.event = events.event
       WHERE notice_id IN (SELECT value FROM json_each(?))
     )
     SELECT id, notice_id, at, event, severity, target, run, details, of FROM placed WHERE nth <= ? ORDER BY nth`,
    [JSON.stringify(worstFirst), ids, most],
  )
  const cut = [...new Set(events.flatMap(({ notice_id, of }) => (of > most ? [notice_id] : [])))]
  const counts = await db.query(
    Count,
    `SELECT notice_id, event, count(*) AS count FROM notification_events
     WHERE notice_id IN (SELECT value FROM json_each(?)) GROUP BY notice_id, event`,
    [JSON.stringify(cut)],
  )
  const deliveries = await db.query(
    Delivery,
    `SELECT notice_id, channel_id, state, attempts, last_error, delivered_at, next_ms FROM notification_deliveries
     WHERE notice_id IN (SELECT value FROM json_each(?)) ORDER BY channel_id`,
    [ids],
  )
  const [eventsOf, countsOf, deliveriesOf] = [grouped(events), grouped(counts), grouped(deliveries)]
  return notices.map((notice) => {
    const counted = countsOf.get(notice.id)
    return {
      ...notice,
      events: eventsOf.get(notice.id) ?? [],
      counts: counted && new Map(counted.map(({ event, count }) => [event, count])),
      deliveries: deliveriesOf.get(notice.id) ?? [],
    }
  })
}

function grouped<row extends { notice_id: number }>(rows: readonly row[]): Map<number, row[]> {
  const groups = new Map<number, row[]>()
  for (const row of rows) groups.set(row.notice_id, [...(groups.get(row.notice_id) ?? []), row])
  return groups
}

import * as z from 'zod'
import type { Database, Statement } from '../libsql/database.ts'
import { StoredText, storedText } from '../libsql/text.ts'
import { CHECKS_GROUP, SIGN_INS } from './events.ts'

const Open = z.object({
  id: z.number(),
  at: z.string(),
  event: z.string(),
  severity: z.string(),
  target: StoredText.nullable(),
  run: z.string().nullable(),
})
/** An event that belongs to no notice yet. */
export type OpenEvent = z.infer<typeof Open>

const Told = Open.extend({ details: StoredText.transform((text): unknown => JSON.parse(text)) })

/** Events without a notice: the critical ones first, so that a flood of others cannot hide them; then the oldest. */
export function openEvents(db: Database, most: number): Promise<OpenEvent[]> {
  return db.query(
    Open,
    `SELECT id, at, event, severity, target, run FROM notification_events WHERE notice_id IS NULL
     ORDER BY severity <> 'critical', id LIMIT ?`,
    [most],
  )
}

/**
 * Those of these ids that are at work: a run of plans with a running job, a running job itself, a schedule's run, the
 * group of single checks, or the sign-ins of a user of whom a notice has told some since `recent`.
 */
export async function runsAtWork(
  db: Database,
  ids: readonly string[],
  { recent }: { recent: string },
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.query(
    z.object({ id: z.string() }),
    `SELECT value AS id FROM json_each(?)
     WHERE value = '${CHECKS_GROUP}' OR EXISTS (SELECT 1 FROM jobs WHERE jobs.run_id = value AND jobs.status = 'running')
        OR EXISTS (SELECT 1 FROM jobs WHERE jobs.id = value AND jobs.status = 'running')
        OR EXISTS (SELECT 1 FROM schedule_runs AS runs WHERE runs.id = value AND runs.state = 'running')
        OR (value LIKE '${SIGN_INS}%' AND EXISTS (
          SELECT 1 FROM (SELECT id, at FROM notices WHERE event = 'sign_in_from_new_address' ORDER BY id DESC LIMIT 20) AS told
          JOIN notification_events AS events ON events.notice_id = told.id WHERE told.at > ? AND events.run = value))`,
    [JSON.stringify(ids), recent],
  )
  return new Set(rows.map(({ id }) => id))
}

export interface NewNotice {
  at: string
  event: string
  severity: string
  target: string | null
  /** The ids of its events. */
  events: readonly number[]
}

export interface NewDelivery {
  id: string
  channel: string
  /** The ids of the events that the channel wants. */
  events: readonly number[]
  state: 'waiting' | 'quiet'
  nextMs: number
}

/**
 * Makes a notice of events, with its deliveries, unless one of the events has a notice; returns whether it did. Of
 * several instances that close the same group one succeeds. `attempt` is unique. A channel that was switched off or
 * removed meanwhile gets no delivery.
 */
export async function addNotice(
  db: Database,
  { at, event, severity, target, events }: NewNotice,
  deliveries: readonly NewDelivery[],
  attempt: string,
): Promise<boolean> {
  const ids = JSON.stringify(events)
  const deliver = ({ id, channel, events: wanted, state, nextMs }: NewDelivery): Statement => ({
    sql: `INSERT INTO notification_deliveries (id, notice_id, channel_id, events, state, first_ms, next_ms)
          SELECT ?1, notices.id, channels.id, ?2, ?3, ?4, ?4
          FROM notices, notification_channels AS channels
          WHERE notices.closed_by = ?5 AND channels.id = ?6 AND channels.enabled = 1`,
    args: [id, JSON.stringify(wanted), state, nextMs, attempt, channel],
  })
  const [added] = await db.batch([
    {
      sql: `INSERT INTO notices (at, event, severity, target, closed_by) SELECT ?, ?, ?, ?, ?
            WHERE (SELECT count(*) FROM notification_events
                   WHERE id IN (SELECT value FROM json_each(?)) AND notice_id IS NULL) = ?`,
      args: [at, event, severity, target && storedText(target), attempt, ids, events.length],
    },
    {
      sql: `UPDATE notification_events SET notice_id = (SELECT id FROM notices WHERE closed_by = ?1)
            WHERE id IN (SELECT value FROM json_each(?2)) AND EXISTS (SELECT 1 FROM notices WHERE closed_by = ?1)`,
      args: [attempt, ids],
    },
    ...deliveries.map(deliver),
  ])
  return added === 1
}

/** The events with these ids, in order. */
export function readEvents(db: Database, ids: readonly number[]): Promise<z.infer<typeof Told>[]> {
  return db.query(
    Told,
    `SELECT id, at, event, severity, target, run, details FROM notification_events
     WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`,
    [JSON.stringify(ids)],
  )
}

/** Looked at in one call: others write in between. */
const PRUNED = 200

/**
 * Removes some of the oldest notices that are older than `before` or not among the newest `keep`, with their events and
 * deliveries; returns how many. A notice that a channel still waits for stays.
 */
export function removeOldNotices(db: Database, { before, keep }: { before: string; keep: number }): Promise<number> {
  return db.run(
    `DELETE FROM notices WHERE id IN (
       SELECT oldest.id FROM (SELECT id, at FROM notices ORDER BY id LIMIT ?1) AS oldest
       WHERE (oldest.at < ?2 OR oldest.id <= (SELECT id FROM notices ORDER BY id DESC LIMIT 1 OFFSET ?3))
         AND NOT EXISTS (SELECT 1 FROM notification_deliveries AS waiting
                         WHERE waiting.notice_id = oldest.id AND waiting.next_ms IS NOT NULL))`,
    [PRUNED, before, keep],
  )
}

import * as z from 'zod'
import { NOW_MS } from '../job-leases.ts'
import type { Database, Statement } from '../libsql/database.ts'
import { StoredText } from '../libsql/text.ts'
import { type LastAttempt, noteLast } from './channels.ts'

const Due = z.object({ id: z.string(), channel_id: z.string() })

const Claimed = z.object({
  id: z.string(),
  channel_id: z.string(),
  attempts: z.number(),
  first_ms: z.number(),
  events: z.string().transform((text) => z.array(z.number()).parse(JSON.parse(text))),
  notice_at: z.string(),
  target: StoredText.nullable(),
})
/** A delivery that its claimer may attempt. `first_ms` is the time of the first attempt. */
export type ClaimedDelivery = z.infer<typeof Claimed> & { owner: string }

/** The time, and how far ahead of it a delivery in each state may be due: a time beyond was set before the clock went back. */
export interface DueAt {
  nowMs: number
  waitingAheadMs: number
  quietAheadMs: number
}

const IS_DUE = `(next_ms <= ?1 OR (next_ms > ?1 + ?2 AND (state <> 'quiet' OR next_ms > ?1 + ?3)))
       AND next_ms IS NOT NULL AND lease_until < ${NOW_MS}`
const dueArgs = ({ nowMs, waitingAheadMs, quietAheadMs }: DueAt) => [nowMs, waitingAheadMs, quietAheadMs]

/**
 * The deliveries that are due and that nobody attempts now, without those to the channels `but`: of critical notices
 * first, then of the oldest.
 */
export function dueDeliveries(
  db: Database,
  { but, most, ...when }: DueAt & { but: readonly string[]; most: number },
): Promise<z.infer<typeof Due>[]> {
  return db.query(
    Due,
    `SELECT id, channel_id FROM notification_deliveries
     WHERE ${IS_DUE} AND channel_id NOT IN (SELECT value FROM json_each(?4))
     ORDER BY (SELECT severity FROM notices WHERE notices.id = notice_id) <> 'critical', notice_id LIMIT ?5`,
    [...dueArgs(when), JSON.stringify(but), most],
  )
}

/**
 * Counts one attempt of a delivery and gives `owner`, which is unique to the attempt, the right to record how it went;
 * undefined when the delivery has ended or another attempt is under way.
 */
export async function claimDelivery(
  db: Database,
  id: string,
  { owner, leaseMs, ...when }: DueAt & { owner: string; leaseMs: number },
): Promise<ClaimedDelivery | undefined> {
  const changed = await db.run(
    `UPDATE notification_deliveries
     SET owner = ?4, lease_until = ${NOW_MS} + ?5, attempts = attempts + 1, state = 'waiting',
         first_ms = CASE WHEN attempts = 0 OR first_ms > ?1 THEN ?1 ELSE first_ms END
     WHERE ${IS_DUE} AND id = ?6`,
    [...dueArgs(when), owner, leaseMs, id],
  )
  if (changed === 0) return undefined
  const [row] = await db.query(
    Claimed,
    `SELECT deliveries.id, channel_id, attempts, first_ms, events, notices.at AS notice_at, target
     FROM notification_deliveries AS deliveries JOIN notices ON notices.id = deliveries.notice_id
     WHERE deliveries.id = ? AND owner = ?`,
    [id, owner],
  )
  return row && { ...row, owner }
}

/** Puts a claimed delivery off, without an attempt, until `nextMs`. */
export function putOff(db: Database, { id, owner }: ClaimedDelivery, nextMs: number): Promise<number> {
  return db.run(
    `UPDATE notification_deliveries
     SET state = 'quiet', next_ms = ?, attempts = attempts - 1, owner = NULL, lease_until = 0
     WHERE id = ? AND owner = ? AND next_ms IS NOT NULL`,
    [nextMs, id, owner],
  )
}

/** Gives a claimed delivery back as it was, for an attempt that was broken off. */
export function giveBack(db: Database, { id, owner }: ClaimedDelivery): Promise<number> {
  return db.run(`UPDATE notification_deliveries SET owner = NULL, lease_until = 0 WHERE id = ? AND owner = ?`, [
    id,
    owner,
  ])
}

/** Records that a claimed delivery has arrived, with what its channel has to say of it. */
export async function noteDelivered(db: Database, { id, owner, channel_id }: ClaimedDelivery, last: LastAttempt) {
  await db.batch([
    {
      sql: `UPDATE notification_deliveries
            SET state = 'delivered', delivered_at = ?, last_error = ?, next_ms = NULL, owner = NULL, lease_until = 0
            WHERE id = ? AND owner = ?`,
      args: [last.at, last.error, id, owner],
    },
    noteLast(channel_id, last),
  ])
}

/**
 * Records that a claimed delivery has failed: the next attempt is at `nextMs`, or there is none. A delivery that has been
 * ended meanwhile, with its channel, stays so.
 */
export async function noteFailed(
  db: Database,
  { id, owner, channel_id }: ClaimedDelivery,
  nextMs: number | null,
  last: LastAttempt,
) {
  const failed: Statement = {
    sql: `UPDATE notification_deliveries SET state = ?, last_error = ?, next_ms = ?, owner = NULL, lease_until = 0
          WHERE id = ? AND owner = ? AND next_ms IS NOT NULL`,
    args: [nextMs === null ? 'given_up' : 'waiting', last.error, nextMs, id, owner],
  }
  await db.batch([failed, noteLast(channel_id, last)])
}

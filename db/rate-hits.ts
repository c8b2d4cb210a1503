import * as z from 'zod'
import type { Database } from './client.ts'

const Oldest = z.object({ at_ms: z.number().nullable() })

/**
 * Counts one hit if fewer than `limit` lie within the window, and says when the next is admitted otherwise: 0 when
 * this one was, else milliseconds to wait. A refused hit is not counted, so it does not prolong the wait.
 */
export async function admitHit(
  db: Database,
  bucket: string,
  address: string,
  { limit, windowMs, nowMs }: { limit: number; windowMs: number; nowMs: number },
): Promise<number> {
  const since = nowMs - windowMs
  const [, inserted] = await db.batch([
    { sql: 'DELETE FROM rate_hits WHERE bucket = ? AND at_ms <= ?', args: [bucket, since] },
    {
      sql: `INSERT INTO rate_hits (bucket, address, at_ms) SELECT ?, ?, ?
            WHERE (SELECT count(*) FROM rate_hits WHERE bucket = ? AND address = ?) < ?`,
      args: [bucket, address, nowMs, bucket, address, limit],
    },
  ])
  if (inserted) return 0
  const sql = 'SELECT min(at_ms) AS at_ms FROM rate_hits WHERE bucket = ? AND address = ?'
  const [oldest] = await db.query(Oldest, sql, [bucket, address])
  return Math.max(1, (oldest?.at_ms ?? nowMs) + windowMs - nowMs)
}

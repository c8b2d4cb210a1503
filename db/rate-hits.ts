import * as z from 'zod'
import type { Database } from './libsql/database.ts'

const Oldest = z.object({ at_ms: z.number().nullable() })

/**
 * Counts one hit if the window contains fewer than `limit`. Returns 0 for an admitted hit, else the milliseconds until
 * the next one is admitted, at most the window. A refused hit is not counted, so it does not prolong the wait. A hit
 * more than a window in the future comes from a wrong clock and does not count.
 */
export async function admitHit(
  db: Database,
  bucket: string,
  address: string,
  { limit, windowMs, nowMs }: { limit: number; windowMs: number; nowMs: number },
): Promise<number> {
  const [since, until] = [nowMs - windowMs, nowMs + windowMs]
  const within = 'FROM rate_hits WHERE bucket = ? AND address = ? AND at_ms > ? AND at_ms <= ?'
  const counted = [bucket, address, since, until]
  const inserted = await db.run(
    `INSERT INTO rate_hits (bucket, address, at_ms) SELECT ?, ?, ? WHERE (SELECT count(*) ${within}) < ?`,
    [bucket, address, nowMs, ...counted, limit],
  )
  if (inserted) return 0
  const [oldest] = await db.query(Oldest, `SELECT min(at_ms) AS at_ms ${within}`, counted)
  return Math.min(windowMs, Math.max(1, (oldest?.at_ms ?? nowMs) + windowMs - nowMs))
}

/** Removes the hits before `before` and after `after`, which no window contains any more. Returns their number. */
export function pruneHits(db: Database, { before, after }: { before: number; after: number }): Promise<number> {
  return db.run('DELETE FROM rate_hits WHERE at_ms < ? OR at_ms > ?', [before, after])
}

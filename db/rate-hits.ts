import * as z from 'zod'
import type { Database } from './libsql/database.ts'

const Oldest = z.object({ at_ms: z.number().nullable() })

/**
 * Counts one hit if fewer than `limit` lie within the window, and says when the next is admitted otherwise: 0 when
 * this one was, else milliseconds to wait, the window at most. A refused hit is not counted, so it does not prolong the
 * wait. A hit from further in the future than a window is of a clock that was wrong, and counts no more.
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

/** Removes hits from outside of those moments, which no window holds any more. */
export function pruneHits(db: Database, { before, after }: { before: number; after: number }): Promise<number> {
  return db.run('DELETE FROM rate_hits WHERE at_ms < ? OR at_ms > ?', [before, after])
}

import * as z from 'zod'
import type { Database } from './libsql/database.ts'

/** The time of the database in milliseconds, the one clock that all instances share. */
export const NOW_MS = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`

const Expired = z.object({ id: z.string() })
const Owned = z.object({ id: z.string(), owner: z.string() })
const Held = z.object({ id: z.string(), cancelled_by: z.string().nullable() })
const Epoch = z.object({ epoch: z.number() })

/** The ids of running jobs without a follower, or whose lease has expired. */
export async function jobsWithExpiredLease(db: Database): Promise<string[]> {
  const rows = await db.query(
    Expired,
    `SELECT id FROM jobs WHERE status = 'running' AND (owner IS NULL OR lease_until < ${NOW_MS}) ORDER BY rowid`,
  )
  return rows.map(({ id }) => id)
}

/** Running jobs with the instances that follow them. */
export function ownedJobs(db: Database): Promise<{ id: string; owner: string }[]> {
  return db.query(Owned, `SELECT id, owner FROM jobs WHERE status = 'running' AND owner IS NOT NULL ORDER BY rowid`)
}

/**
 * Takes over a running job whose lease has expired, or whose follower is `gone`. Returns the new epoch, or undefined
 * when another instance was first. The previous follower can no longer write.
 */
export async function takeJob(
  db: Database,
  id: string,
  { owner, leaseMs, gone }: { owner: string; leaseMs: number; gone?: string | undefined },
): Promise<number | undefined> {
  const changed = await db.run(
    `UPDATE jobs SET owner = ?1, epoch = epoch + 1, lease_until = ${NOW_MS} + ?2
     WHERE id = ?3 AND status = 'running' AND (owner IS NULL OR lease_until < ${NOW_MS} OR owner = ?4)`,
    [owner, leaseMs, id, gone ?? null],
  )
  if (changed === 0) return undefined
  const [row] = await db.query(Epoch, 'SELECT epoch FROM jobs WHERE id = ? AND owner = ?', [id, owner])
  return row?.epoch
}

/**
 * Renews the leases of these jobs. Returns the jobs that this owner still holds, each with the user who cancelled it.
 */
export async function renewLeases(
  db: Database,
  ids: readonly string[],
  { owner, leaseMs }: { owner: string; leaseMs: number },
): Promise<{ id: string; cancelled_by: string | null }[]> {
  const list = JSON.stringify(ids)
  const own = `owner = ? AND status = 'running' AND id IN (SELECT value FROM json_each(?))`
  await db.run(`UPDATE jobs SET lease_until = ${NOW_MS} + ? WHERE ${own}`, [leaseMs, owner, list])
  return db.query(Held, `SELECT id, cancelled_by FROM jobs WHERE ${own}`, [owner, list])
}

/** Releases the leases of an owner that stops, so that others take the jobs over without waiting for their expiry. */
export async function releaseLeases(db: Database, owner: string): Promise<void> {
  await db.run(`UPDATE jobs SET owner = NULL, lease_until = 0 WHERE owner = ? AND status = 'running'`, [owner])
}

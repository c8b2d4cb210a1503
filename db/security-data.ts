/*
 * Lists about vulnerabilities that the service fetches, one row per list: `cve:<release>` and `kev`. The body stays
 * as it was last fetched whole, also while later attempts fail.
 */
import * as z from 'zod'
import type { Database } from './libsql/database.ts'

const State = z.object({
  name: z.string(),
  fetched_at: z.string().nullable(),
  tried_at: z.string(),
  error: z.string().nullable(),
})

/** When a list was last fetched and tried, and the French sentence of the last failure. */
export type SecurityDataState = z.infer<typeof State>

/** Reads the state of every list, by name. */
export function securityDataStates(db: Database): Promise<SecurityDataState[]> {
  return db.query(State, 'SELECT name, fetched_at, tried_at, error FROM security_data ORDER BY name')
}

const Body = z.object({ body: z.instanceof(ArrayBuffer) })

/** Returns the bytes of a list; undefined when it was never fetched. */
export async function readSecurityData(db: Database, name: string): Promise<Uint8Array | undefined> {
  const [row] = await db.query(Body, 'SELECT body FROM security_data WHERE name = ? AND body IS NOT NULL', [name])
  return row && new Uint8Array(row.body)
}

const Claimed = z.object({ etag: z.string().nullable() })

/** The bounds within which a list needs no attempt: times outside are too old, or of a clock that was ahead. */
export interface Due {
  now: string
  fetchedBefore: string
  triedBefore: string
  ahead: string
}

/**
 * Claims the next attempt to fetch a list. Returns the tag of the stored body; undefined when the list is new enough,
 * or when another instance has begun an attempt.
 */
export async function claimSecurityData(
  db: Database,
  name: string,
  { now, fetchedBefore, triedBefore, ahead }: Due,
): Promise<{ etag: string | null } | undefined> {
  const changed = await db.run(
    `INSERT INTO security_data (name, tried_at) VALUES (?1, ?2)
     ON CONFLICT (name) DO UPDATE SET tried_at = excluded.tried_at
     WHERE (tried_at < ?4 OR tried_at > ?5) AND (fetched_at IS NULL OR fetched_at < ?3 OR fetched_at > ?5)`,
    [name, now, fetchedBefore, triedBefore, ahead],
  )
  if (changed === 0) return undefined
  const [row] = await db.query(
    Claimed,
    'SELECT CASE WHEN body IS NULL THEN NULL ELSE etag END AS etag FROM security_data WHERE name = ?',
    [name],
  )
  return row
}

/** Stores a list that was fetched whole. */
export async function saveSecurityData(
  db: Database,
  name: string,
  { body, etag, at }: { body: Uint8Array; etag: string | null; at: string },
): Promise<void> {
  await db.run('UPDATE security_data SET body = ?2, etag = ?3, fetched_at = ?4, error = NULL WHERE name = ?1', [
    name,
    body,
    etag,
    at,
  ])
}

/** Records that the stored body is still the newest one. */
export async function keepSecurityData(db: Database, name: string, at: string): Promise<void> {
  await db.run('UPDATE security_data SET fetched_at = ?2, error = NULL WHERE name = ?1 AND body IS NOT NULL', [
    name,
    at,
  ])
}

/** Records why the last attempt failed. The stored body stays. */
export async function failSecurityData(db: Database, name: string, error: string): Promise<void> {
  await db.run('UPDATE security_data SET error = ?2 WHERE name = ?1', [name, error])
}

/** Removes every list that is not among these. */
export async function keepOnlySecurityData(db: Database, names: readonly string[]): Promise<void> {
  const stored = await securityDataStates(db)
  // Most calls find nothing to remove, and a statement that changes nothing would still wait for the write lock.
  if (stored.every(({ name }) => names.includes(name))) return
  await db.run('DELETE FROM security_data WHERE name NOT IN (SELECT value FROM json_each(?))', [JSON.stringify(names)])
}

const System = z.object({ id: z.string(), version_id: z.string().nullable(), codename: z.string().nullable() })
/** A distribution and its release, as a check has found them. */
export type CheckedSystem = z.infer<typeof System>

/** The longest text that names a system. */
const MAX_NAME = 64

/** Returns the systems of the stored checks that have one of these ids, the most frequent first. */
export async function checkedSystems(db: Database, ids: readonly string[], most: number): Promise<CheckedSystem[]> {
  const field = (name: string) =>
    `CASE WHEN json_valid(summary) AND length(json_extract(summary, '$.os.${name}')) BETWEEN 1 AND ${MAX_NAME}
      AND json_type(summary, '$.os.${name}') = 'text' THEN json_extract(summary, '$.os.${name}') END AS ${name}`
  return db.query(
    System,
    `SELECT id, version_id, codename FROM (SELECT ${['id', 'version_id', 'codename'].map(field).join(', ')} FROM checks)
     WHERE id IN (SELECT value FROM json_each(?))
     GROUP BY id, version_id, codename ORDER BY count(*) DESC, id, version_id, codename LIMIT ?`,
    [JSON.stringify(ids), most],
  )
}

/*
 * The facts that decide which checks start by themselves, and the revision that tells every instance of a change.
 */
import * as z from 'zod'
import type { Database } from './libsql/database.ts'
import { StoredText } from './libsql/text.ts'
import { AUTOMATIC_USER } from './users.ts'

const Running = z.object({
  kind: z.string(),
  target: StoredText,
  automatic: z.number().transform(Boolean),
})

/** A job that runs or waits. `automatic` means that it started by itself. */
export type RunningJob = z.infer<typeof Running>

export function runningJobs(db: Database): Promise<RunningJob[]> {
  return db.query(
    Running,
    `SELECT kind, target, started_by = ${AUTOMATIC_USER} AS automatic FROM jobs WHERE status = 'running'`,
  )
}

const Attempt = z.object({ target: z.string(), started_at: z.string().nullable() })

/** Returns when the last ended check of each known target began, whatever its result; that of `all` too. */
export async function lastAttempts(db: Database): Promise<Map<string, string>> {
  const rows = await db.query(
    Attempt,
    `SELECT target, (SELECT started_at FROM jobs WHERE jobs.target = known.target AND kind = 'check'
         AND finished_at IS NOT NULL AND coalesce(error_code, '') <> 'cancelled' ORDER BY rowid DESC LIMIT 1) AS started_at
     FROM (SELECT 'all' AS target UNION SELECT 'host' UNION SELECT target FROM checks) AS known`,
  )
  return new Map(rows.flatMap(({ target, started_at }) => (started_at === null ? [] : [[target, started_at]])))
}

const Silence = z.object({ since: z.string().nullable(), last: z.string().nullable() })

/** The host could not be reached for a check from `since` to `last`, the ends of the first and of the newest such check. */
export interface HostSilence {
  since: string
  last: string
}

/** The number of latest jobs that are searched. */
const SEARCHED = 500

/**
 * Returns how long checks have ended with one of these codes without a later job that the host has started; undefined
 * when the last check reached it.
 */
export async function hostSilence(db: Database, codes: readonly string[]): Promise<HostSilence | undefined> {
  const [found] = await db.query(
    Silence,
    `WITH late AS (
       SELECT rowid AS nth, kind, launched, error_code, finished_at FROM jobs
       WHERE rowid > (SELECT max(rowid) FROM jobs) - ${SEARCHED}
     ), refused AS (
       SELECT nth, finished_at FROM late WHERE kind = 'check' AND error_code IN (SELECT value FROM json_each(?))
         AND nth > coalesce((SELECT max(nth) FROM late WHERE launched = 1), 0)
     )
     SELECT min(finished_at) AS since, (SELECT finished_at FROM refused ORDER BY nth DESC LIMIT 1) AS last FROM refused`,
    [JSON.stringify(codes)],
  )
  return found?.since && found.last ? { since: found.since, last: found.last } : undefined
}

const Revision = z.object({ n: z.number() })

/** Returns the number that grows with each change of stored checks and with each start, turn and end of a job. */
export async function checksRevision(db: Database): Promise<number> {
  const [row] = await db.query(Revision, `SELECT n FROM revisions WHERE name = 'checks'`)
  return row?.n ?? 0
}

/*
 * Facts for the events of ended jobs, read right before the transaction that stores them. Without the former findings, each
 * check would tell the same updates again.
 */
import * as z from 'zod'
import type { Database, Statement } from '../libsql/database.ts'
import { StoredText } from '../libsql/text.ts'
import type { Followed } from '../jobs.ts'

const Former = z.object({
  target: z.string(),
  name: z.string(),
  checked_at: z.string().nullable(),
  summary: z.string().nullable(),
})
/** The stored check of a target, before the one that ends: `summary` is JSON. */
export type FormerCheck = z.infer<typeof Former>

/** Reads the stored checks of these targets, without their packages. */
export function readFormerChecks(db: Database, targets: readonly string[]): Promise<FormerCheck[]> {
  return db.query(
    Former,
    'SELECT target, name, checked_at, summary FROM checks WHERE target IN (SELECT value FROM json_each(?))',
    [JSON.stringify(targets)],
  )
}

const Id = z.object({ id: z.string() })

/** The newest job that the host has started; undefined without any. */
export async function lastLaunchedJob(db: Database): Promise<string | undefined> {
  const [row] = await db.query(Id, 'SELECT id FROM jobs WHERE launched = 1 ORDER BY rowid DESC LIMIT 1')
  return row?.id
}

/** Makes the count that is 1 once a job has ended in this epoch, so only for the follower that recorded the end. */
export function hasEnded({ id, epoch }: Followed): Statement {
  return { sql: `SELECT count(*) FROM jobs WHERE id = ? AND epoch = ? AND status <> 'running'`, args: [id, epoch] }
}

/** The same for a check's finding about a known target of which no later check has stored findings. */
export function hasFound({ id, epoch }: Followed, target: string): Statement {
  return {
    sql: `SELECT count(*) FROM jobs WHERE id = ? AND epoch = ? AND status <> 'running'
          AND (? = 'host' OR EXISTS (SELECT 1 FROM checks WHERE target = ?))
          AND rowid >= coalesce((SELECT later.rowid FROM checks JOIN jobs AS later ON later.id = checks.job_id WHERE checks.target = ?), 0)`,
    args: [id, epoch, target, target, target],
  }
}

const Place = z.object({ name: z.string() })
const Run = z.object({
  run: z.string(),
  schedule: z.string().nullable(),
  name: StoredText.nullable(),
  timezone: z.string().nullable(),
})

/**
 * The name of a job's target, empty for the host and for all containers; the run that groups its events, which is a schedule's
 * run where one has started the job, and the name and zone of that schedule.
 */
export async function readEventPlace(db: Database, { target, run }: { target: string; run: string | null }) {
  const [place] = await db.query(Place, 'SELECT name FROM checks WHERE target = ?', [target])
  const [of] =
    run === null
      ? []
      : await db.query(
          Run,
          `SELECT coalesce(runs.schedule_run_id, runs.id) AS run, runs.schedule_run_id AS schedule, schedules.name, timezone
           FROM runs LEFT JOIN schedule_runs ON schedule_runs.id = runs.schedule_run_id
           LEFT JOIN schedules ON schedules.id = schedule_runs.schedule_id WHERE runs.id = ?`,
          [run],
        )
  const schedule = of?.schedule ? { run: of.schedule, name: of.name ?? '', timezone: of.timezone ?? 'UTC' } : null
  return { name: place?.name ?? '', run: of?.run ?? run, schedule }
}

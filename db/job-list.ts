/*
 * Lists of jobs: for people, for their followers, and for the queue, which takes the next ones from its list.
 */
import * as z from 'zod'
import { conflict, type Followed, JobRow } from './jobs.ts'
import type { Database } from './libsql/database.ts'
import { StoredText } from './libsql/text.ts'

/** All targets, or some by their ids. */
type Targets = 'all' | readonly string[]

/** The condition that a job is of these targets, whose JSON is its argument. A job of `all` is of all of them alone. */
const OF_TARGETS = `target IN (SELECT value FROM json_each(?))`

/** The newest jobs of one kind, the newest first: of all targets, or of those given. */
export function latestJobs(
  db: Database,
  { kind, limit, targets = 'all' }: { kind: string; limit: number; targets?: Targets },
): Promise<JobRow[]> {
  const [condition, args] = targets === 'all' ? ['', []] : [`AND ${OF_TARGETS}`, [JSON.stringify(targets)]]
  const sql = `SELECT * FROM jobs WHERE kind = ? ${condition} ORDER BY started_at DESC, rowid DESC LIMIT ?`
  return db.query(JobRow, sql, [kind, ...args, limit])
}

/** The number of latest jobs that are searched for jobs of a rare kind. */
const SEARCHED = 500

const Listed = JobRow.pick({
  id: true,
  kind: true,
  target: true,
  status: true,
  error_code: true,
  exit_code: true,
  started_at: true,
  finished_at: true,
  parts: true,
  warnings: true,
  run_id: true,
  plan_id: true,
  plan_difference: true,
  phase: true,
  launched: true,
  outcome: true,
  protected: true,
}).extend({ started_by_name: z.string(), snapshot: z.string().nullable(), asked: z.string().nullable() })

/** The number of differences from its plan that a list shows of a job. */
const DIFFERENCES = 20
const LISTED = `jobs.id, jobs.kind, jobs.target, status, error_code, exit_code, jobs.started_at, finished_at, parts, warnings, run_id,
  phase, launched, outcome, json_remove(protected, '$.comparison', '$.phases') AS protected, plan_id, iif(plan_difference IS NULL, NULL, (SELECT json_group_array(json(value))
    FROM (SELECT value FROM json_each(plan_difference) LIMIT ${DIFFERENCES}))) AS plan_difference,
  (SELECT json_object('name', name, 'made_at', made_at, 'kind', snapshots.kind, 'present', present) FROM snapshots
    WHERE snapshots.job_id = jobs.id AND snapshots.target = jobs.target AND ours = 1 LIMIT 1) AS snapshot,
  iif(status = 'running' AND phase IS NULL, args -> '$.protection', NULL) AS asked, username AS started_by_name`

/**
 * A job as lists show it, with the name of the user who started it. `asked` is the protection of its arguments, as JSON,
 * until its first phase begins.
 */
export type ListedJob = z.infer<typeof Listed>

/** Asks for the newest `limit` jobs of a kind. For a rare kind, searches only the latest jobs instead of all. */
export interface NewestOfKind {
  kind: string
  limit: number
  isRare?: boolean
}

/** The newest jobs of each of these kinds and all their running jobs, the newest first: of all targets, or of those given. */
export function listJobs(db: Database, kinds: readonly NewestOfKind[], targets: Targets = 'all'): Promise<ListedJob[]> {
  const [condition, chosen] = targets === 'all' ? ['', []] : [`AND ${OF_TARGETS}`, [JSON.stringify(targets)]]
  const late = `AND rowid > (SELECT max(rowid) FROM jobs) - ${SEARCHED}`
  const newest = ({ isRare = false }: NewestOfKind) =>
    `SELECT id FROM (SELECT id FROM jobs WHERE kind = ? ${condition} ${isRare ? late : ''} ORDER BY started_at DESC, rowid DESC LIMIT ?)`
  return db.query(
    Listed,
    `SELECT ${LISTED} FROM jobs JOIN users ON users.id = started_by
     WHERE jobs.id IN (
       ${kinds.map((each) => `${newest(each)} UNION `).join('')}
       SELECT id FROM jobs WHERE status = 'running' AND kind IN (SELECT value FROM json_each(?)) ${condition})
     ORDER BY started_at DESC, jobs.rowid DESC`,
    [
      ...kinds.flatMap(({ kind, limit }) => [kind, ...chosen, limit]),
      JSON.stringify(kinds.map(({ kind }) => kind)),
      ...chosen,
    ],
  )
}

const OfRun = Listed.extend({ packages: z.number().nullable(), begun_at: z.string().nullable() })

/** The jobs of a run, in the order in which they were asked for. `packages` is null once the plan is gone, and `begun_at` until the first phase. */
export function jobsOfRun(db: Database, run: string): Promise<z.infer<typeof OfRun>[]> {
  return db.query(
    OfRun,
    `SELECT ${LISTED}, (SELECT json_array_length(actions) FROM plans WHERE plans.id = jobs.plan_id) AS packages,
       protected ->> '$.phases[0].at' AS begun_at
     FROM jobs JOIN users ON users.id = started_by WHERE run_id = ? ORDER BY jobs.rowid`,
    [run],
  )
}

/** The arguments of a job may have 100 kB, and a database server limits the bytes of an answer. */
const PAGE = 50

/** The rows of these jobs in the order of their start, without those that another instance has taken over. */
export async function followedJobs(db: Database, jobs: readonly Followed[]): Promise<JobRow[]> {
  const rows: JobRow[] = []
  for (let at = 0; at < jobs.length; at += PAGE) {
    const page = new Map(jobs.slice(at, at + PAGE).map(({ id, epoch }) => [id, epoch]))
    const found = await db.query(
      JobRow,
      'SELECT * FROM jobs WHERE id IN (SELECT value FROM json_each(?)) ORDER BY rowid',
      [JSON.stringify([...page.keys()])],
    )
    rows.push(...found.filter(({ id, epoch }) => page.get(id) === epoch))
  }
  return rows
}

const Queued = z.object({
  id: z.string(),
  queue: StoredText,
  target: StoredText,
  begun: z.number().transform(Boolean),
  run_id: z.string().nullable(),
  started_by: z.number(),
  late: z.number(),
})

/**
 * A running job with its queue; `begun` is true once the job has had its turn. `late`: of a run, it waits for all jobs
 * with a lower number.
 */
export type QueuedJob = z.infer<typeof Queued>

/** All running jobs, in the order of their turns. */
export function queuedJobs(db: Database): Promise<QueuedJob[]> {
  return db.query(
    Queued,
    `SELECT id, queue, target, begun, run_id, started_by, late FROM jobs WHERE status = 'running'
     ORDER BY begun DESC, turn, rowid`,
  )
}

/** The number of jobs of all runs of one user that work at a time. */
export const AT_ONCE_OF_RUNS = 4

/**
 * Records that a running job has its turn. False while a conflicting job has one, or, for a job of a run, while enough
 * jobs of runs of the same user have one, or while one of its run that comes before has not ended. A job that was cancelled
 * before has no turn: its upgrade would be interrupted right after its start. A job of a schedule's run has none either once that
 * run may start nothing more: after an absence of all instances, nobody has withdrawn it yet. `at` is now.
 */
export async function takeTurn(db: Database, id: string, at = ''): Promise<boolean> {
  const changed = await db.run(
    `UPDATE jobs SET begun = 1 WHERE id = ? AND status = 'running' AND NOT EXISTS (
       SELECT 1 FROM jobs AS other WHERE other.status = 'running' AND other.begun = 1 AND other.id <> jobs.id
         AND ${conflict('other.queue', 'jobs.queue')})
       AND (begun = 1 OR (cancelled_by IS NULL AND NOT EXISTS (
         SELECT 1 FROM runs JOIN schedule_runs AS whole ON whole.id = runs.schedule_run_id
         WHERE runs.id = jobs.run_id AND whole.state = 'running' AND (whole.cancelled_by IS NOT NULL OR whole.reason IS NOT NULL
           OR whole.closes_at <= ?))))
       AND (run_id IS NULL OR (SELECT count(*) FROM jobs AS mate WHERE mate.status = 'running' AND mate.begun = 1
         AND mate.run_id IS NOT NULL AND mate.started_by = jobs.started_by AND mate.id <> jobs.id) < ${AT_ONCE_OF_RUNS})
       AND NOT EXISTS (SELECT 1 FROM jobs AS former WHERE former.status = 'running' AND former.run_id = jobs.run_id
         AND former.late < jobs.late)`,
    [id, at],
  )
  return changed > 0
}

const Running = z.object({ id: z.string() })

/** The id of a job of these kinds that runs or waits for a target; undefined when there is none. */
export async function runningJobOf(
  db: Database,
  target: string,
  kinds: readonly string[],
): Promise<string | undefined> {
  const sql = `SELECT id FROM jobs WHERE status = 'running' AND target IN (?, 'all')
    AND kind IN (SELECT value FROM json_each(?)) ORDER BY rowid LIMIT 1`
  const [found] = await db.query(Running, sql, [target, JSON.stringify(kinds)])
  return found?.id
}

const Version = z.object({ newest: z.number().nullable(), running: z.number(), revision: z.number() })

/**
 * A text that changes when a job starts or ends: a start raises the newest row id, and an end lowers the running count.
 * Phases and decisions raise the revision of a job.
 */
export async function jobsVersion(db: Database): Promise<string> {
  const [found] = await db.query(
    Version,
    `SELECT (SELECT max(rowid) FROM jobs) AS newest, (SELECT count(*) FROM jobs WHERE status = 'running') AS running,
       (SELECT total(revision) FROM jobs WHERE status = 'running' OR rowid > (SELECT max(rowid) FROM jobs) - ${SEARCHED}) AS revision`,
  )
  return `${found?.newest ?? 0}.${found?.running ?? 0}.${found?.revision ?? 0}`
}

const JobCount = z.object({ kind: z.string(), status: z.string(), count: z.number() })

/** The number of jobs of a kind with a status. */
export type JobCount = z.infer<typeof JobCount>

/** Counts the jobs of each of these kinds with each status. Includes counts of 0. */
export async function countJobs(db: Database, kinds: readonly string[]): Promise<JobCount[]> {
  const rows = await db.query(JobCount, 'SELECT kind, status, count(*) AS count FROM jobs GROUP BY kind, status')
  const counted = new Map(rows.map(({ kind, status, count }) => [`${kind} ${status}`, count]))
  return kinds.flatMap((kind) =>
    JobRow.shape.status.options.map((status) => ({ kind, status, count: counted.get(`${kind} ${status}`) ?? 0 })),
  )
}

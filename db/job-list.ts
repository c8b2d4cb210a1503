import * as z from 'zod'
import { JobRow } from './jobs.ts'
import type { Database } from './libsql/database.ts'

/** The newest jobs of one kind, the newest first. */
export function latestJobs(db: Database, { kind, limit }: { kind: string; limit: number }): Promise<JobRow[]> {
  return db.query(JobRow, 'SELECT * FROM jobs WHERE kind = ? ORDER BY started_at DESC, rowid DESC LIMIT ?', [
    kind,
    limit,
  ])
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
}).extend({ started_by_name: z.string() })

/** The number of differences from its plan that a list shows of a job. */
const DIFFERENCES = 20
const LISTED = `jobs.id, kind, target, status, error_code, exit_code, jobs.started_at, finished_at, parts, warnings, run_id,
  plan_id, iif(plan_difference IS NULL, NULL, (SELECT json_group_array(json(value))
    FROM (SELECT value FROM json_each(plan_difference) LIMIT ${DIFFERENCES}))) AS plan_difference,
  username AS started_by_name`

/** A job as lists show it, with the name of the user who started it. */
export type ListedJob = z.infer<typeof Listed>

/** Asks for the newest `limit` jobs of a kind. For a rare kind, searches only the latest jobs instead of all. */
export interface NewestOfKind {
  kind: string
  limit: number
  isRare?: boolean
}

/** The newest jobs of each of these kinds and all their running jobs, the newest first. */
export function listJobs(db: Database, kinds: readonly NewestOfKind[]): Promise<ListedJob[]> {
  const late = `AND rowid > (SELECT max(rowid) FROM jobs) - ${SEARCHED}`
  const newest = ({ isRare = false }: NewestOfKind) =>
    `SELECT id FROM (SELECT id FROM jobs WHERE kind = ? ${isRare ? late : ''} ORDER BY started_at DESC, rowid DESC LIMIT ?)`
  return db.query(
    Listed,
    `SELECT ${LISTED} FROM jobs JOIN users ON users.id = started_by
     WHERE jobs.id IN (
       ${kinds.map((each) => `${newest(each)} UNION `).join('')}
       SELECT id FROM jobs WHERE status = 'running' AND kind IN (SELECT value FROM json_each(?)))
     ORDER BY started_at DESC, jobs.rowid DESC`,
    [...kinds.flatMap(({ kind, limit }) => [kind, limit]), JSON.stringify(kinds.map(({ kind }) => kind))],
  )
}

/** The jobs of a run, in the order in which they were asked for. */
export function jobsOfRun(db: Database, run: string): Promise<ListedJob[]> {
  return db.query(
    Listed,
    `SELECT ${LISTED} FROM jobs JOIN users ON users.id = started_by WHERE run_id = ? ORDER BY jobs.rowid`,
    [run],
  )
}

const Version = z.object({ newest: z.number().nullable(), running: z.number() })

/**
 * A text that changes when a job starts or ends: a start raises the newest row id, and an end lowers the running count.
 */
export async function jobsVersion(db: Database): Promise<string> {
  const [found] = await db.query(
    Version,
    `SELECT (SELECT max(rowid) FROM jobs) AS newest, (SELECT count(*) FROM jobs WHERE status = 'running') AS running`,
  )
  return `${found?.newest ?? 0}.${found?.running ?? 0}`
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

/*
 * The stored plans of upgrades. A plan that was used once stays used: the statement that uses it belongs to the
 * transaction that records its job.
 */
import * as z from 'zod'
import type { Database, Statement } from './libsql/database.ts'
import { StoredText, storedText } from './libsql/text.ts'

const Row = z.object({
  id: z.string(),
  target: StoredText,
  hash: z.string(),
  made_at: z.string(),
  made_by: StoredText,
  expires_at: z.string(),
  selection: z.string(),
  actions: z.string(),
  download_bytes: z.number().nullable(),
  disk_bytes: z.number().nullable(),
  findings: z.string(),
  conffiles: z.string(),
  job_id: z.string().nullable(),
})
/** A plan as stored; `selection`, `actions`, `findings` and `conffiles` are JSON. `job_id`: the job that used it. */
export type PlanRow = z.infer<typeof Row>

/** Plans of one user, and characters of their JSON: of one user, and of all. The newest stay. */
const MOST_OF_USER = 300
const BYTES_OF_USER = 32 * 1024 * 1024
const BYTES = 128 * 1024 * 1024
/** Plans removed in one transaction. */
const AT_ONCE = 100

/** Stores a plan, and removes up to a hundred of those that are too old or too many. The plan of a running job stays. */
export async function addPlan(db: Database, plan: PlanRow): Promise<void> {
  const { id, target, hash, made_at, made_by, expires_at, selection, actions, findings, conffiles, job_id } = plan
  await db.batch([
    {
      sql: `INSERT INTO plans (id, target, hash, made_at, made_by, expires_at, selection, actions, size, download_bytes,
              disk_bytes, findings, conffiles, job_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      args: [
        id,
        storedText(target),
        hash,
        made_at,
        storedText(made_by),
        expires_at,
        selection,
        actions,
        selection.length + actions.length + findings.length + conffiles.length,
        plan.download_bytes,
        plan.disk_bytes,
        findings,
        conffiles,
        job_id,
      ],
    },
    {
      sql: `DELETE FROM plans WHERE id IN (
              SELECT id FROM (
                SELECT id, job_id, row_number() OVER own AS place, sum(size) OVER own AS of_user,
                  sum(size) OVER (ORDER BY rowid DESC) AS of_all
                FROM plans WINDOW own AS (PARTITION BY made_by ORDER BY rowid DESC))
              WHERE (place > ? OR of_user > ? OR of_all > ?) AND id <> ?
                AND (job_id IS NULL OR job_id NOT IN (SELECT id FROM jobs WHERE status = 'running'))
              LIMIT ${AT_ONCE})`,
      args: [MOST_OF_USER, BYTES_OF_USER, BYTES, id],
    },
  ])
}

/** Removes up to a hundred plans that expired unused before `before`. */
export async function removeExpiredPlans(db: Database, before: string): Promise<void> {
  await db.run(
    `DELETE FROM plans WHERE id IN (
       SELECT id FROM plans WHERE job_id IS NULL AND expires_at < ? LIMIT ${AT_ONCE})`,
    [before],
  )
}

export async function findPlan(db: Database, id: string): Promise<PlanRow | undefined> {
  const [plan] = await db.query(Row, 'SELECT * FROM plans WHERE id = ?', [id])
  return plan
}

const Header = Row.omit({ actions: true, findings: true, conffiles: true }).extend({ take: z.string() })
/** A plan without its packages; `take` is the JSON list of the configuration files that its run replaces. */
export type PlanHeader = z.infer<typeof Header>

/** Reads plans without their packages, in no order. */
export function findPlans(db: Database, ids: readonly string[]): Promise<PlanHeader[]> {
  return db.query(
    Header,
    `SELECT id, target, hash, made_at, made_by, expires_at, selection, download_bytes, disk_bytes, job_id,
       (SELECT json_group_array(value ->> '$.file') FROM json_each(conffiles) WHERE value ->> '$.choice' = 'take') AS take
     FROM plans WHERE id IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(ids)],
  )
}

/**
 * Replaces the list of changed configuration files of a plan that is still as it was read, unused and not expired, and
 * executes the `INSERT … SELECT`s of `more`, in one transaction. False when the plan is not so any more.
 */
export async function saveConffiles(
  db: Database,
  { id, conffiles: was }: Pick<PlanRow, 'id' | 'conffiles'>,
  conffiles: string,
  at: string,
  more: readonly Statement[] = [],
): Promise<boolean> {
  const isSo = 'id = ? AND conffiles = ? AND job_id IS NULL AND expires_at > ?'
  const [saved = 0] = (
    await db.batch([
      ...more.map(({ sql, args = [] }) => ({
        sql: `${sql} WHERE EXISTS (SELECT 1 FROM plans WHERE ${isSo})`,
        args: [...args, id, was, at],
      })),
      {
        sql: `UPDATE plans SET conffiles = ?, size = length(selection) + length(actions) + length(findings) + ?
              WHERE ${isSo}`,
        args: [conffiles, conffiles.length, id, was, at],
      },
    ])
  ).slice(-1)
  return saved > 0
}

/** Plans that must be current at a time: their ids as a JSON list, and the time. */
export interface PlansAt {
  ids: string
  at: string
}

/** The SQL condition that each of the plans, a JSON list of different ids, is unused and has not expired. */
export function currentPlans(ids: string, at: string): string {
  return `(SELECT count(*) FROM plans WHERE id IN (SELECT value FROM json_each(${ids})) AND job_id IS NULL
    AND expires_at > ${at}) = json_array_length(${ids})`
}

/** Makes the statement that uses a plan, as one of the statements of its job's start. */
export function usePlan(id: string, job: string): Statement {
  return {
    sql: 'UPDATE plans SET job_id = ? WHERE id = ? AND EXISTS (SELECT 1 FROM jobs WHERE id = ?)',
    args: [job, id, job],
  }
}

const Run = z.object({ id: z.string(), started_at: z.string(), started_by_name: StoredText })
/** A run of several plans. */
export type RunRow = z.infer<typeof Run>

export async function findRun(db: Database, id: string): Promise<RunRow | undefined> {
  const [run] = await db.query(
    Run,
    `SELECT runs.id, runs.started_at, username AS started_by_name FROM runs JOIN users ON users.id = started_by
     WHERE runs.id = ?`,
    [id],
  )
  return run
}

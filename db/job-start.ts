/*
 * The start of jobs. One transaction records a job, or all jobs of a run, with their audit entries and uses up their
 * plans. Without it, a plan could be carried out twice, or a run could start only some of its jobs.
 */
import * as z from 'zod'
import { NOW_MS } from './job-leases.ts'
import { conflict, type Followed, type JobRow } from './jobs.ts'
import type { Database, Statement } from './libsql/database.ts'
import { storedText } from './libsql/text.ts'
import { currentPlans, type PlansAt, usePlan } from './plans.ts'

/** A job to record. `plan_id`: the plan that it carries out, which must be current. */
export type NewJob = Pick<JobRow, 'id' | 'kind' | 'args' | 'queue' | 'target' | 'started_at' | 'started_by'> & {
  folder?: string
  plan_id?: string
}

/** The most jobs of a kind that may run or wait: of one user for one target, of one user, and of all users. */
export interface JobBounds {
  ofTarget: number
  ofUser: number
  ofAll: number
}

/**
 * The number of latest jobs whose turns count, beside those of running jobs. Older turns are lower than all current
 * ones.
 */
const SEARCHED = 500

/**
 * The turn of a new job. Each job of a user has the turn after the user's previous one, and a user who is new to a
 * queue starts at its current turn. The users' jobs therefore alternate, however many jobs one of them has queued.
 */
const TURN = `
  WITH near AS (
    SELECT turn, begun, status, started_by FROM jobs
    WHERE (status = 'running' OR rowid > (SELECT max(rowid) FROM jobs) - ${SEARCHED})
      AND ${conflict('queue', ':queue')}
  )
  SELECT max(
    coalesce((SELECT max(turn) FROM near WHERE begun = 1), 0),
    coalesce((SELECT max(turn) + 1 FROM near WHERE started_by = :user AND (begun = 1 OR status = 'running')), 0)
  )`

/** The jobs that each bound counts. All jobs of a run count once. Jobs of one queue have the same target. */
const OF_KIND = `FROM jobs WHERE status = 'running' AND kind = :kind`
const OF_USER = `${OF_KIND} AND started_by = :user`
const OF_TARGET = `${OF_USER} AND queue = :queue AND (queue <> '' OR target = :target)`
const STARTS = 'SELECT count(DISTINCT coalesce(run_id, id))'

/** The bounds allow no further job. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

/** A plan was used, has expired or is gone. Nothing was recorded. */
export class PlanNotCurrent extends Error {
  override readonly name = 'PlanNotCurrent'
}

interface Lease {
  owner: string
  leaseMs: number
}

/**
 * Records a job with its first follower and lease, and executes the `INSERT … SELECT`s of `more`, in one transaction.
 * Rejects with QueueFull when the bounds allow no further job, and with PlanNotCurrent.
 */
export async function addJob(
  db: Database,
  job: NewJob,
  lease: Lease,
  more: readonly Statement[] = [],
  { ofTarget, ofUser, ofAll }: JobBounds = UNBOUNDED,
): Promise<Followed> {
  const plans = plansOf([job])
  const allowed = `(SELECT count(*) ${OF_TARGET}) < :ofTarget AND (${STARTS} ${OF_USER}) < :ofUser
    AND (${STARTS} ${OF_KIND}) < :ofAll${plans ? ` AND ${currentPlans(':plans', ':at')}` : ''}`
  const [added = 0] = await db.batch([
    insertJob(job, lease, allowed, { ofTarget, ofUser, ofAll, plans: plans?.ids ?? null }),
    ...afterJob(job, more),
  ])
  if (added === 0) await refuse(db, job.kind, plans)
  return { id: job.id, epoch: 1 }
}

const UNBOUNDED: JobBounds = { ofTarget: 2 ** 31, ofUser: 2 ** 31, ofAll: 2 ** 31 }

/** A run of several jobs of one kind and one user, each with the statements of its start. */
export interface NewRun {
  id: string
  jobs: readonly { job: NewJob; more: readonly Statement[] }[]
}

/** Records all jobs of a run like `addJob`, or none of them. */
export async function addRun(
  db: Database,
  { id, jobs }: NewRun,
  lease: Lease,
  { ofTarget, ofUser, ofAll }: JobBounds = UNBOUNDED,
): Promise<Followed[]> {
  const [first] = jobs
  if (!first) return []
  const { kind, started_at: at, started_by: user } = first.job
  const plans = plansOf(jobs.map(({ job }) => job))
  const wanted = jobs.map((_, n) => `(:queue${n})`).join(', ')
  const given = Object.fromEntries(jobs.map(({ job }, n) => [`queue${n}`, storedText(job.queue)]))
  const run = positional(
    `INSERT INTO runs (id, started_at, started_by)
     WITH wanted (queue) AS (VALUES ${wanted})
     SELECT :id, :at, :user WHERE (${STARTS} ${OF_USER}) < :ofUser AND (${STARTS} ${OF_KIND}) < :ofAll
       AND NOT EXISTS (SELECT 1 FROM wanted WHERE (
         SELECT count(*) ${OF_USER} AND jobs.queue = wanted.queue) >= :ofTarget)
       ${plans ? `AND ${currentPlans(':plans', ':at')}` : ''}`,
    { ...given, id, at, user, kind, ofTarget, ofUser, ofAll, plans: plans?.ids ?? null },
  )
  const [added = 0] = await db.batch([
    run,
    ...jobs.map(({ job }) => insertJob(job, lease, 'EXISTS (SELECT 1 FROM runs WHERE id = :run)', { run: id })),
    ...jobs.flatMap(({ job, more }) => afterJob(job, more)),
  ])
  if (added === 0) await refuse(db, kind, plans)
  return jobs.map(({ job }) => ({ id: job.id, epoch: 1 }))
}

type Values = Record<string, string | number | Buffer | null>

/** Makes the statement that records a job where `allowed`, a condition with named values, is true. */
function insertJob(job: NewJob, { owner, leaseMs }: Lease, allowed: string, values: Values): Statement {
  return positional(
    `INSERT INTO jobs (id, folder, kind, args, queue, target, status, started_at, started_by, owner, epoch, lease_until,
       turn, run_id, plan_id)
     SELECT :id, :folder, :kind, :args, :queue, :target, 'running', :at, :user, :owner, 1, ${NOW_MS} + :leaseMs,
       (${TURN}), :run, :plan
     WHERE ${allowed}`,
    {
      id: job.id,
      folder: job.folder ?? null,
      kind: job.kind,
      args: job.args,
      queue: storedText(job.queue),
      target: storedText(job.target),
      at: job.started_at,
      user: job.started_by,
      owner,
      leaseMs,
      run: null,
      plan: job.plan_id ?? null,
      ...values,
    },
  )
}

/** Makes the statements that follow the record of a job and change nothing without it. */
function afterJob({ id, plan_id }: NewJob, more: readonly Statement[]): Statement[] {
  const isThere = 'EXISTS (SELECT 1 FROM jobs WHERE id = ?)'
  return [
    ...more.map(({ sql, args = [] }) => ({ sql: `${sql} WHERE ${isThere}`, args: [...args, id] })),
    ...(plan_id === undefined ? [] : [usePlan(plan_id, id)]),
  ]
}

/** The plans of jobs that start together, at the time of the start. */
function plansOf(jobs: readonly NewJob[]): PlansAt | undefined {
  const ids = jobs.flatMap(({ plan_id }) => plan_id ?? [])
  return ids.length === 0 ? undefined : { ids: JSON.stringify(ids), at: jobs[0]?.started_at ?? '' }
}

async function refuse(db: Database, kind: string, plans: PlansAt | undefined): Promise<never> {
  if (plans) {
    const { sql, args } = positional(`SELECT ${currentPlans(':plans', ':at')} AS all_current`, {
      plans: plans.ids,
      at: plans.at,
    })
    const [found] = await db.query(AllCurrent, sql, args)
    if (!found?.all_current) throw new PlanNotCurrent('a plan was used, has expired or is gone')
  }
  throw new QueueFull(`no more jobs of kind ${kind}`)
}

const AllCurrent = z.object({ all_current: z.number().transform(Boolean) })

/** Turns a statement with named arguments into one with positional arguments. */
function positional(sql: string, given: Values): Statement & { args: Values[string][] } {
  const args: Values[string][] = []
  const text = sql.replace(/:(\w+)/g, (_, name: string) => {
    args.push(given[name] ?? null)
    return '?'
  })
  return { sql: text, args }
}

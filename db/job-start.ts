/*
 * The start of jobs. One transaction records a job, or all jobs of a run, with their audit entries and uses up their
 * plans. Without it, a plan could be carried out twice, or a run could start only some of its jobs.
 */
import * as z from 'zod'
import { NOW_MS } from './job-leases.ts'
import { conflict, EVERY_QUEUE, type Followed, type JobRow } from './jobs.ts'
import type { Database, Statement } from './libsql/database.ts'
import { storedText } from './libsql/text.ts'
import { currentPlans, type PlansAt, usePlan } from './plans.ts'
import { type HeldAt, OPEN } from './schedules/runs.ts'

/**
 * A job to record. `plan_id`: the plan that it carries out, which must be current. `alone`: no other job of its kind may
 * run or wait for the same target, or for the same application of it. `onlyBeside`: the kinds of which jobs may run or wait;
 * a job of any other kind forbids the start. `late`: of a run, the job waits for all those with a lower number.
 */
export type NewJob = Pick<JobRow, 'id' | 'kind' | 'args' | 'queue' | 'target' | 'started_at' | 'started_by'> & {
  folder?: string
  plan_id?: string | undefined
  alone?: boolean | undefined
  onlyBeside?: readonly string[] | undefined
  late?: number | undefined
}

/**
 * The most jobs of a kind that may run or wait: of one user for one target, of one user, and of all users. The last two
 * do not count jobs of runs, which keep nobody's single jobs out.
 */
export interface JobBounds {
  ofTarget: number
  ofUser: number
  ofAll: number
}

/** The most jobs of all runs of one user that may run or wait: the largest run, when no other one of the user does. */
const MOST_IN_RUNS = 200

/**
 * The number of latest jobs whose turns count, beside those of running jobs. Older turns are lower than all current
 * ones.
 */
const SEARCHED = 500

/**
 * The turn of a new job. Each job of a user has the turn after the user's previous one, and a user who is new to a
 * queue starts at its current turn. The users' jobs therefore alternate, however many jobs one of them has queued. A job
 * that runs alone has the turn before all others that wait.
 */
const TURN = `
  WITH near AS (
    SELECT turn, begun, status, started_by FROM jobs
    WHERE (status = 'running' OR rowid > (SELECT max(rowid) FROM jobs) - ${SEARCHED})
      AND ${conflict('queue', ':queue')}
  )
  SELECT iif(:queue = '${EVERY_QUEUE}', -1, max(
    coalesce((SELECT max(turn) FROM near WHERE begun = 1), 0),
    coalesce((SELECT max(turn) + 1 FROM near WHERE started_by = :user AND (begun = 1 OR status = 'running')), 0)
  ))`

/** The jobs that each bound counts. Jobs of one queue have the same target. */
const OF_KIND = `FROM jobs WHERE status = 'running' AND kind = :kind`
const OF_USER = `${OF_KIND} AND started_by = :user`
const OF_TARGET = `${OF_USER} AND queue = :queue AND (queue <> '' OR target = :target)`
const ROOM_FOR_JOB = `(SELECT count(*) ${OF_TARGET}) < :ofTarget
  AND (SELECT count(*) ${OF_USER} AND run_id IS NULL) < :ofUser
  AND (SELECT count(*) ${OF_KIND} AND run_id IS NULL) < :ofAll`

/** The job of a kind that runs for a target, or an application of it, or is the next one to run. */
const SAME = `(SELECT id ${OF_KIND} AND target = :target AND args ->> '$.application' IS :args ->> '$.application' ORDER BY begun DESC, turn, rowid LIMIT 1)`

/** The first job that runs or waits and is of another kind than those in `onlyBeside`. */
const OTHER = `(SELECT id FROM jobs WHERE status = 'running' AND kind NOT IN (SELECT value FROM json_each(:onlyBeside))
  ORDER BY begun DESC, turn, rowid LIMIT 1)`

/** A start that was refused, for a reason that its caller tells people. Nothing was recorded. */
export abstract class StartRefused extends Error {}

/** The bounds allow no further job, or a run would have more than the `mostInRuns` jobs that a user's runs may have. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
  readonly mostInRuns: number | undefined

  constructor(kind: string, mostInRuns?: number) {
    super(`no more jobs of kind ${kind}`)
    this.mostInRuns = mostInRuns
  }
}

/** A plan was used, has expired or is gone. */
export class PlanNotCurrent extends StartRefused {
  override readonly name = 'PlanNotCurrent'
}

/** The job `id` runs or waits for the same target. */
export class AlreadyQueued extends StartRefused {
  override readonly name = 'AlreadyQueued'
  readonly id: string

  constructor(id: string) {
    super(`job ${id} runs or waits for the same target`)
    this.id = id
  }
}

/** The job `id` runs or waits, and is of no kind that may. */
export class OtherQueued extends StartRefused {
  override readonly name = 'OtherQueued'
  readonly id: string

  constructor(id: string) {
    super(`job ${id} runs or waits`)
    this.id = id
  }
}

/** The schedule's run is no longer as its holder has read it, may start nothing more, or has started this run already. */
export class ScheduleRunChanged extends StartRefused {
  override readonly name = 'ScheduleRunChanged'
}

interface Lease {
  owner: string
  leaseMs: number
}

/**
 * Records a job with its first follower and lease, and executes the `INSERT … SELECT`s of `more`, in one transaction.
 * Rejects with QueueFull when the bounds allow no further job, and with a StartRefused.
 */
export async function addJob(
  db: Database,
  job: NewJob,
  lease: Lease,
  more: readonly Statement[] = [],
  bounds: JobBounds = UNBOUNDED,
): Promise<Followed> {
  const { kind, alone = false, onlyBeside } = job
  const needs = { kind, room: ROOM_FOR_JOB, plans: plansOf([job]), alone, isApart: onlyBeside !== undefined }
  const given = { ...bounds, plans: needs.plans?.ids ?? null, onlyBeside: JSON.stringify(onlyBeside ?? []) }
  await record(db, needs, { ...valuesOf(job), ...given }, [
    insertJob(job, lease, allOf(needs), given),
    ...afterJob(job, more),
  ])
  return { id: job.id, epoch: 1 }
}

const UNBOUNDED: JobBounds = { ofTarget: 2 ** 31, ofUser: 2 ** 31, ofAll: 2 ** 31 }

/**
 * A run of several jobs of one kind and one user, each with the statements of its start. `within`: it is a part of a
 * schedule's run, which must be as its holder knows it, and open.
 */
export interface NewRun {
  id: string
  within?: HeldAt | undefined
  jobs: readonly { job: NewJob; more: readonly Statement[] }[]
}

/** Records all jobs of a run like `addJob`, or none of them. */
export async function addRun(
  db: Database,
  { id, within, jobs }: NewRun,
  lease: Lease,
  bounds: JobBounds = UNBOUNDED,
): Promise<Followed[]> {
  const [first] = jobs
  if (!first) return []
  const { kind, started_at: at, started_by: user } = first.job
  const plans = plansOf(jobs.map(({ job }) => job))
  const wanted = jobs.map((_, n) => `(:queue${n})`).join(', ')
  const queues = Object.fromEntries(jobs.map(({ job }, n) => [`queue${n}`, storedText(job.queue)]))
  const room = `(SELECT count(*) ${OF_USER} AND run_id IS NOT NULL) + :count <= ${MOST_IN_RUNS}
    AND NOT EXISTS (WITH wanted (queue) AS (VALUES ${wanted}) SELECT 1 FROM wanted WHERE (
      SELECT count(*) ${OF_USER} AND jobs.queue = wanted.queue) >= :ofTarget)`
  const { onlyBeside } = first.job
  const isApart = onlyBeside !== undefined
  const needs = { kind, room, plans, alone: false, isApart, mostInRuns: MOST_IN_RUNS, isWithin: within !== undefined }
  const beside = { onlyBeside: JSON.stringify(onlyBeside ?? []) }
  const held = { schedule: within?.id ?? null, revision: within?.revision ?? null, holder: within?.owner ?? null }
  const plan = { plans: plans?.ids ?? null }
  const given = { ...queues, ...bounds, ...beside, ...held, ...plan, id, at, user, kind, count: jobs.length }
  await record(db, needs, given, [
    positional(
      `INSERT INTO runs (id, started_at, started_by, schedule_run_id) SELECT :id, :at, :user, :schedule WHERE ${allOf(needs)}`,
      given,
    ),
    ...jobs.map(({ job }) => insertJob(job, lease, 'EXISTS (SELECT 1 FROM runs WHERE id = :run)', { run: id })),
    ...jobs.flatMap(({ job, more }) => afterJob(job, more)),
  ])
  return jobs.map(({ job }) => ({ id: job.id, epoch: 1 }))
}

type Values = Record<string, string | number | Buffer | null>

/** Makes the statement that records a job where `allowed`, a condition with named values, is true. */
function insertJob(job: NewJob, { owner, leaseMs }: Lease, allowed: string, values: Values): Statement {
  return positional(
    `INSERT INTO jobs (id, folder, kind, args, queue, target, status, started_at, started_by, owner, epoch, lease_until,
       turn, run_id, plan_id, late)
     SELECT :id, :folder, :kind, :args, :queue, :target, 'running', :at, :user, :owner, 1, ${NOW_MS} + :leaseMs,
       (${TURN}), :run, :plan, :late
     WHERE ${allowed}`,
    { ...valuesOf(job), owner, leaseMs, run: null, ...values },
  )
}

/** The columns of a new job by the names of their values. */
function valuesOf(job: NewJob): Values {
  return {
    id: job.id,
    folder: job.folder ?? null,
    kind: job.kind,
    args: job.args,
    queue: storedText(job.queue),
    target: storedText(job.target),
    at: job.started_at,
    user: job.started_by,
    plan: job.plan_id ?? null,
    late: job.late ?? 0,
  }
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

/**
 * The needs of a start. `room` is a condition with named values; `mostInRuns` is its bound on jobs of runs. `isApart`: no
 * job of another kind than those in `onlyBeside` may run or wait.
 */
interface Needs {
  kind: string
  room: string
  plans: PlansAt | undefined
  alone: boolean
  isApart: boolean
  mostInRuns?: number
  /** Whether the run is a part of a schedule's run. */
  isWithin?: boolean
}

/** The SQL condition that a start has all that it needs. */
function allOf({ room, plans, alone, isApart, isWithin }: Needs): string {
  const free = [...(alone ? [SAME] : []), ...(isApart ? [OTHER] : [])].map((job) => `${job} IS NULL`)
  const open = isWithin ? [OPEN] : []
  return [room, ...(plans ? [currentPlans(':plans', ':at')] : []), ...free, ...open].join(' AND ')
}

/** The obstacle to a start may be gone before the next statement can name it. */
const ATTEMPTS = 3

/** Executes the statements of a start in one transaction. Rejects with the reason when the first one records nothing. */
async function record(db: Database, needs: Needs, values: Values, statements: readonly Statement[]): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const [added = 0] = await db.batch(statements)
    if (added > 0) return
    const { sql, args } = positional(
      `SELECT ${needs.alone ? SAME : 'NULL'} AS same, ${needs.isApart ? OTHER : 'NULL'} AS other, ${needs.room} AS has_room,
         ${needs.plans ? currentPlans(':plans', ':at') : 'true'} AS all_current, ${needs.isWithin ? OPEN : 'true'} AS is_open`,
      values,
    )
    const [found] = await db.query(Found, sql, args)
    if (found && !found.is_open) throw new ScheduleRunChanged('the run of a schedule may not start this run')
    if (found?.same) throw new AlreadyQueued(found.same)
    if (found?.other) throw new OtherQueued(found.other)
    if (found && !found.all_current) throw new PlanNotCurrent('a plan was used, has expired or is gone')
    if (!found?.has_room) break
  }
  throw new QueueFull(needs.kind, needs.mostInRuns)
}

const Found = z.object({
  same: z.string().nullable(),
  other: z.string().nullable(),
  has_room: z.number().transform(Boolean),
  all_current: z.number().transform(Boolean),
  is_open: z.number().transform(Boolean),
})

/** Turns a statement with named arguments into one with positional arguments. */
function positional(sql: string, given: Values): Statement & { args: Values[string][] } {
  const args: Values[string][] = []
  const text = sql.replace(/:(\w+)/g, (_, name: string) => {
    args.push(given[name] ?? null)
    return '?'
  })
  return { sql: text, args }
}

import * as z from 'zod'
import type { ListedJob } from '../../db/job-list.ts'
import { findJob, type JobRow } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { JobId } from '../../jobs/jobs.ts'
import { Vmid } from '../hypervisor/container.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { PlanId } from '../plans/plan.ts'
import { PlanDifference } from '../plans/plan-difference.ts'
import { RunId } from '../plans/run.ts'
import { Protection } from '../protection/protection.ts'
import { Compared, Outcome, Phase, ProtectedRun, protectedRunOf, Regression } from '../protection/run-record.ts'

/** A job as the history returns it. */
export const JobRecord = z.object({
  job_id: JobId,
  target: z.string(),
  status: z.enum(['running', 'success', 'error']),
  output: z.string().optional(),
  started_at: z.string(),
  finished_at: z.string().optional(),
})
export type JobRecord = z.infer<typeof JobRecord>

/** The result of one container's upgrade within an upgrade of all containers. */
const ContainerResult = z
  .object({
    vmid: Vmid,
    name: z.string(),
    state: z.enum(['waiting', 'done', 'warned', 'failed', 'stopped', 'template', 'locked']),
    exit_code: z.int().nullable(),
  })
  .meta({
    id: 'ContainerResult',
    description:
      'The result of a container in an upgrade of `all`: `done`, `failed`, or `warned`: upgraded without the newest lists of every repository. The upgrade skips a container that is `stopped`, a `template`, or stopped and `locked`. `waiting` applies until the job ends, and afterwards if the job ended before the container’s turn.',
  })

/** Fields that a record has beyond the history: how the job ended, and whose it is. */
export const JobResult = z.object({
  exit_code: z.int().nullable(),
  error_code: z.string().nullable(),
  started_by_name: z.string(),
  containers: z.array(ContainerResult).nullable(),
  warnings: z.array(z.string()).meta({
    description:
      'Sentences about what the end of a job does not tell: package lists that could not be refreshed, one for each repository, or for each container of `all`; snapshots that stay; an application without a newer version.',
  }),
  run_id: RunId.nullable(),
  plan_id: PlanId.nullable(),
  plan_difference: z.array(PlanDifference).nullable().meta({
    description:
      'For a job that ended with `plan_changed`: the packages whose change was not the planned one, each with `planned` and `found` as `action from to`, or null without a change. At most 1,000, and at most 20 in a list of jobs. Null for any other job.',
  }),
  phase: Phase.nullable().meta({
    description: 'The present step of an upgrade, of packages or an application, or of a rollback; null otherwise.',
  }),
  outcome: Outcome.nullable().meta({
    description: 'The outcome of such a job that has ended, apart from its `status`. Null for any other job.',
  }),
  snapshot: z
    .object({ name: z.string(), made_at: z.string(), kind: z.enum(['snapshot', 'backup']), present: z.boolean() })
    .nullable()
    .meta({ description: 'The snapshot or backup that the job has made; `present` until it is removed.' }),
  regressions: z
    .array(Regression)
    .meta({ description: 'The things that worked before a protected upgrade and did not after it, at most 50.' }),
  protection: Protection.nullable().meta({
    description: 'The policy that the job runs with, from its start on; null without one.',
  }),
  unprotected: z
    .string()
    .nullable()
    .meta({ description: 'Why a protected upgrade had no snapshot, in the hypervisor’s words.' }),
  reason: z
    .string()
    .nullable()
    .meta({ description: 'Why nothing was upgraded, or why a rollback failed, in the hypervisor’s words.' }),
  outage_seconds: z.int().nullable().meta({ description: 'How long a rollback kept the container from answering.' }),
  decided: ProtectedRun.shape.decided
    .unwrap()
    .meta({ description: 'The decision about the regressions; null while there is none.' }),
})

/** The fields that the record of one job has beyond those of a listed one. */
export const RunDetails = z.object({
  phases: ProtectedRun.shape.phases
    .unwrap()
    .meta({ description: 'The phases of a protected job that have begun, with their beginnings.' }),
  comparison: z.array(Compared).nullable().meta({
    description:
      'The container before and after a protected upgrade, the worst first, at most 300; null without both looks.',
  }),
  application: z
    .object({ id: z.string(), name: z.string(), digest: z.string() })
    .nullable()
    .meta({ description: 'The application that the job updates, and the digest that it runs; null for other jobs.' }),
})

/**
 * The columns that `jobResult` reads. `snapshot` is JSON of the job's own snapshot, `asked` JSON of the protection that a
 * running job was started with.
 */
type ResultRow = Pick<
  JobRow,
  | 'kind'
  | 'target'
  | 'status'
  | 'launched'
  | 'exit_code'
  | 'error_code'
  | 'parts'
  | 'warnings'
  | 'run_id'
  | 'plan_id'
  | 'plan_difference'
  | 'phase'
  | 'outcome'
  | 'protected'
> & { snapshot: string | null; asked: string | null }

/**
 * Returns the machine-readable result of a job. `containers` is null for a job that does not cover all containers.
 */
export function jobResult(row: ResultRow): Omit<z.infer<typeof JobResult>, 'started_by_name'> {
  const { exit_code, error_code, parts, warnings, run_id, plan_id, plan_difference } = row
  // The host wrote the recorded parts; an invalid part is skipped, and the others are returned.
  const containers = parts?.flatMap((part) => Part.safeParse(part).data ?? []) ?? null
  const differences = plan_difference === null ? null : Differences.parse(JSON.parse(plan_difference))
  const run = protectedRunOf(row)
  return {
    exit_code,
    error_code,
    containers,
    warnings,
    run_id,
    plan_id,
    plan_difference: differences,
    phase: phaseOf(row),
    outcome: outcomeOf(row),
    snapshot: row.snapshot === null ? null : OwnSnapshot.parse(JSON.parse(row.snapshot)),
    regressions: run?.regressions ?? [],
    protection: run?.protection ?? askedOf(row),
    unprotected: run?.unprotected ?? null,
    reason: run?.reason ?? null,
    outage_seconds: run?.outage_seconds ?? null,
    decided: run?.decided ?? null,
  }
}

/** Returns the protection that a running upgrade will have, before its first phase. The host has none. */
function askedOf({ status, target, asked }: ResultRow): Protection | null {
  if (asked === null || status !== 'running' || parseTarget(target)?.kind !== 'container') return null
  const { data } = Protection.safeParse(JSON.parse(asked))
  return data && data.before !== 'none' ? data : null
}

/** Returns the protection in the arguments of a job, as JSON. */
export function askedIn({ args }: Pick<JobRow, 'args'>): string | null {
  const { data } = z.object({ protection: z.unknown() }).safeParse(JSON.parse(args))
  return data?.protection === undefined ? null : JSON.stringify(data.protection)
}

/** Returns what the record of one job has beyond that of a listed one. */
export function runDetails(row: Pick<JobRow, 'protected' | 'kind' | 'args'>): z.infer<typeof RunDetails> {
  const run = protectedRunOf(row)
  return { phases: run?.phases ?? [], comparison: run?.comparison ?? null, application: applicationIn(row) }
}

const OfApplication = z
  .object({ application: z.string(), name: z.string(), digest: z.string() })
  .transform(({ application: id, name, digest }) => ({ id, name, digest }))

/** Returns the application that a job updates. */
function applicationIn({ kind, args }: Pick<JobRow, 'kind' | 'args'>): z.infer<typeof OfApplication> | null {
  return kind === 'application' ? (OfApplication.safeParse(JSON.parse(args)).data ?? null) : null
}

const OwnSnapshot = z.object({
  name: z.string(),
  made_at: z.string(),
  kind: z.enum(['snapshot', 'backup']),
  present: z.number().transform(Boolean),
})

/** The kinds that have phases and an outcome. */
const WITH_OUTCOME: ReadonlySet<string> = new Set(['upgrade', 'application', 'rollback'])

function phaseOf(row: ResultRow): z.infer<typeof Phase> | null {
  const { kind, status, launched, phase } = row
  if (!WITH_OUTCOME.has(kind)) return null
  const known = Phase.safeParse(phase)
  if (known.success) return known.data
  if (status !== 'running') return 'done'
  if (!launched) return 'waiting'
  // A job that has just begun has told no phase yet.
  if (kind === 'rollback') return 'rolling_back'
  return askedOf(row) === null ? 'upgrading' : 'protecting'
}

/** An upgrade of an earlier version has no stored outcome. */
function outcomeOf({ kind, status, outcome, exit_code, error_code }: ResultRow): z.infer<typeof Outcome> | null {
  if (!WITH_OUTCOME.has(kind) || status === 'running') return null
  const known = Outcome.safeParse(outcome)
  if (known.success) return known.data
  if (error_code === 'cancelled' || error_code === 'plan_changed') return error_code
  return status === 'success' && exit_code === 0 ? 'upgraded' : 'failed'
}

const Differences = z.array(PlanDifference)

const Part = z
  .object({ id: z.coerce.number(), name: z.string(), state: ContainerResult.shape.state, code: z.int().nullable() })
  .transform(({ id: vmid, name, state, code: exit_code }) => ({ vmid, name, state, exit_code }))

/** The example of the documents. */
export const EXAMPLE_JOB = {
  job_id: '1772366400-k3x9q2pa',
  target: 'lxc:101',
  status: 'success',
  started_at: '2026-03-01T12:00:00.000Z',
  finished_at: '2026-03-01T12:00:41.000Z',
} as const satisfies JobRecord

/** The example of the fields beyond the history. */
export const EXAMPLE_RESULT = {
  exit_code: 0,
  error_code: null,
  started_by_name: 'alice',
  containers: null,
  warnings: [],
  run_id: null,
  plan_id: null,
  plan_difference: null,
  phase: 'done',
  outcome: 'upgraded',
  snapshot: null,
  regressions: [],
  protection: null,
  unprotected: null,
  reason: null,
  outage_seconds: null,
  decided: null,
} as const satisfies z.infer<typeof JobResult>

/** Returns the record of a job without its output. */
export function jobRecord({
  id,
  target,
  status,
  started_at,
  finished_at,
}: Pick<JobRow, 'id' | 'target' | 'status' | 'started_at' | 'finished_at'>): JobRecord {
  return { job_id: id, target, status, started_at, ...(finished_at !== null && { finished_at }) }
}

/**
 * The job kinds of this area: upgrades, checks, repairs, rollbacks, removals of snapshots, restarts of services, reboots
 * of the host, and updates of applications.
 */
export const UpdateKind = z.enum([
  'upgrade',
  'check',
  'remedy',
  'rollback',
  'snapshot',
  'restart',
  'reboot',
  'application',
])
export type UpdateKind = z.infer<typeof UpdateKind>

/** Returns the `kind` field of a job; upgrades have none. */
export function updateKindOf({ kind }: Pick<JobRow, 'kind'>): { kind?: UpdateKind } {
  const known = UpdateKind.exclude(['upgrade']).safeParse(kind)
  return known.success ? { kind: known.data } : {}
}

/** A job as lists show it, without its output. */
export const ListedRecord = JobRecord.omit({ output: true }).extend({
  ...JobResult.shape,
  kind: UpdateKind.optional(),
})

/** Returns the record of a listed job. */
export function listedRecord(job: ListedJob): z.infer<typeof ListedRecord> {
  return { ...jobRecord(job), ...updateKindOf(job), ...jobResult(job), started_by_name: job.started_by_name }
}

export interface UpdateJob extends JobRow {
  kind: UpdateKind
}

/** Returns the job of this area with that id; undefined for jobs of other kinds. */
export async function findUpdateJob(db: Database, id: string): Promise<UpdateJob | undefined> {
  const job = await findJob(db, id)
  const kind = UpdateKind.safeParse(job?.kind)
  return job && kind.success ? { ...job, kind: kind.data } : undefined
}

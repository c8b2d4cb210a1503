import * as z from 'zod'
import type { ListedJob } from '../../db/job-list.ts'
import { findJob, type JobRow } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { JobId } from '../../jobs/jobs.ts'
import { Vmid } from '../hypervisor/container.ts'
import { PlanId } from '../plans/plan.ts'
import { PlanDifference } from '../plans/plan-difference.ts'
import { RunId } from '../plans/run.ts'

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
      'Sentences of an ended upgrade whose package lists could not all be refreshed, one for each repository, or for each container of `all`. Empty for any other job.',
  }),
  run_id: RunId.nullable(),
  plan_id: PlanId.nullable(),
  plan_difference: z.array(PlanDifference).nullable().meta({
    description:
      'For a job that ended with `plan_changed`: the packages whose change was not the planned one, each with `planned` and `found` as `action from to`, or null without a change. At most 1,000, and at most 20 in a list of jobs. Null for any other job.',
  }),
})

/**
 * Returns the machine-readable result of an ended job. `containers` is null for a job that does not cover all
 * containers.
 */
export function jobResult({
  exit_code,
  error_code,
  parts,
  warnings,
  run_id,
  plan_id,
  plan_difference,
}: Pick<JobRow, 'exit_code' | 'error_code' | 'parts' | 'warnings' | 'run_id' | 'plan_id' | 'plan_difference'>): Omit<
  z.infer<typeof JobResult>,
  'started_by_name'
> {
  // The host wrote the recorded parts; an invalid part is skipped, and the others are returned.
  const containers = parts?.flatMap((part) => Part.safeParse(part).data ?? []) ?? null
  const differences = plan_difference === null ? null : Differences.parse(JSON.parse(plan_difference))
  return { exit_code, error_code, containers, warnings, run_id, plan_id, plan_difference: differences }
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

/** The job kinds of this area: upgrades, checks and repairs. */
export const UpdateKind = z.enum(['upgrade', 'check', 'remedy'])
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

/** Returns the upgrade, check or repair with that id; undefined for jobs of other kinds. */
export async function findUpdateJob(db: Database, id: string): Promise<UpdateJob | undefined> {
  const job = await findJob(db, id)
  const kind = UpdateKind.safeParse(job?.kind)
  return job && kind.success ? { ...job, kind: kind.data } : undefined
}

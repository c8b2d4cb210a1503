import * as z from 'zod'
import { type Caller, record } from './client.ts'
import { type Follower, follow } from './follower.ts'

const Started = z.object({ job_id: z.string().regex(/^\d+-[a-z0-9]{8}$/), message: z.string().min(1) })

const Plan = z.object({ id: z.string() })

/** Makes a plan of everything and returns its id. */
export async function makePlan(caller: Caller, target: string): Promise<string> {
  const { status, body } = await caller.post('/api/updates/plans', { target })
  if (status !== 201) throw new Error(`plan of ${target}: ${status} ${JSON.stringify(body)}`)
  return Plan.parse(body).id
}

/**
 * Starts an upgrade, of a plan if one is given, and returns its id. Without a plan, no other upgrade of the target may
 * run or wait.
 */
export async function startJob(caller: Caller, target: string, plan?: string): Promise<string> {
  const { status, body } = await caller.post('/api/updates/run', { target, plan })
  if (status !== 202) throw new Error(`run of ${target}: ${status} ${JSON.stringify(body)}`)
  return Started.parse(body).job_id
}

/** Starts an upgrade and follows it from its beginning. */
export async function startFollowed(caller: Caller, target: string, plan?: string): Promise<Follower & { id: string }> {
  const id = await startJob(caller, target, plan)
  return Object.assign(await follow(caller.service, id, { token: caller.token }), { id })
}

/** Runs an upgrade to its end and returns what its subscriber got and its record in the history. */
export async function runJob(caller: Caller, target: string) {
  const follower = await startFollowed(caller, target)
  const code = await follower.closed
  return {
    id: follower.id,
    code,
    frames: follower.frames,
    output: follower.output(),
    last: follower.frames.at(-1),
    record: await record(caller, follower.id),
  }
}

/** Runs a check to its end. */
export async function runCheck(caller: Caller, target: string): Promise<void> {
  const { status, body } = await caller.post('/api/updates/checks', { target })
  if (status !== 202) throw new Error(`check of ${target}: ${status} ${JSON.stringify(body)}`)
  const { closed } = await follow(caller.service, Started.parse(body).job_id, { token: caller.token })
  await closed
}

const Result = z.object({
  exit_code: z.number().nullable(),
  error_code: z.string().nullable(),
  started_by_name: z.string(),
  containers: z
    .array(z.object({ vmid: z.number(), name: z.string(), state: z.string(), exit_code: z.number() }))
    .nullable(),
})

/** Returns how a job ended and who started it, with details that the history does not have. */
export async function jobResult(caller: Caller, id: string): Promise<z.infer<typeof Result>> {
  const { body } = await caller.get(`/api/updates/jobs/${id}?output=none`)
  return Result.parse(body)
}

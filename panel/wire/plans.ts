import { type Answer, ApiError } from '../../client/index.ts'
import type { Plan, Selection } from '../nouns/plan.ts'
import { checks, checkUnderWay, readChecks } from './checks.ts'
import { readJobs } from './jobs.ts'
import { api, panel } from './panel.ts'

/** Has the service simulate an upgrade of the target now. */
export function askPlan(target: string, selection: Selection, signal: AbortSignal): Promise<Plan> {
  const { packages, exclude, ...rest } = selection
  return api('POST /api/updates/plans', {
    body: { target, ...rest, exclude: [...exclude], ...(packages && { packages: [...packages] }) },
    signal,
  })
}

/** Reads a stored plan; undefined when the plan is gone. */
export function readPlan(id: string, signal?: AbortSignal): Promise<Plan | undefined> {
  return api('GET /api/updates/plans/{id}', { params: { id }, signal }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'plan_missing') return undefined
    throw error
  })
}

/** Reads the selection of a stored plan; undefined when the plan is gone. */
export async function selectionOf(id: string): Promise<Selection | undefined> {
  const plan = await readPlan(id)
  if (!plan) return undefined
  const { only, packages, exclude, allow_remove } = plan
  return { only, exclude, allow_remove, ...(packages && { packages }) }
}

/** Has the service compare the changed configuration files of a plan with the new ones, which takes a download. */
export function compareConffiles(id: string): Promise<Plan> {
  return api('POST /api/updates/plans/{id}/conffiles', { params: { id } })
}

/** Stores in a plan which version of a changed configuration file stays. Only administrators may. */
export function chooseConffile(id: string, file: string, choice: 'keep' | 'take'): Promise<Plan> {
  return api('PUT /api/updates/plans/{id}/conffiles', { params: { id }, body: { choices: [{ file, choice }] } })
}

/** Starts a check of the target, or joins the running one, and resolves when it has ended and its results are there. */
export async function checkToTheEnd(target: string, signal: AbortSignal): Promise<void> {
  const { job_id } = await api('POST /api/updates/checks', { body: { target }, signal })
  checkUnderWay.value = job_id
  void readChecks()
  for await (const _ of panel.follow(`update:${job_id}`, { signal })) {
    // Only its end matters.
  }
  await readChecks()
}

/** The last check of a target, as far as it is known. */
export function checkOf(target: string) {
  return checks.value?.find((check) => check.target === target)
}

/** Starts the upgrades of these plans, all or none; returns the id of the run. */
export async function startRun(plans: readonly string[]): Promise<string> {
  const { run_id } = await api('POST /api/updates/runs', { body: { plans: [...plans] } })
  void readJobs()
  return run_id
}

/** Holds packages of a target at their version, or releases them; returns the id of the job. Only administrators may. */
export async function setHold(target: string, packages: readonly string[], held: boolean): Promise<string> {
  const { job_id } = await api('PUT /api/updates/holds', { body: { target, packages: [...packages], held } })
  await Promise.all([readJobs(), readChecks()])
  return job_id
}

/** Several upgrades that were started together. */
export type Run = Answer<'GET /api/updates/runs/{id}'>

/** Reads a run with its jobs, in the order in which they were started. */
export function readRun(id: string, signal: AbortSignal): Promise<Run> {
  return api('GET /api/updates/runs/{id}', { params: { id }, signal })
}

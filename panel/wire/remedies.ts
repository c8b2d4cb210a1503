import type { Input } from '../../client/index.ts'
import { readChecks } from './checks.ts'
import { readJobs } from './jobs.ts'
import { api } from './panel.ts'

type Remedy = Input<'POST /api/updates/remedies'>['body']
type Restart = Input<'POST /api/updates/restarts'>['body']

/** Starts the remedy of a finding; returns the id of its job. Only administrators may. */
export async function startRemedy(remedy: Remedy): Promise<string> {
  const { job_id } = await api('POST /api/updates/remedies', { body: remedy })
  // The row shows the job at once.
  await Promise.all([readJobs(), readChecks()])
  return job_id
}

/** Restarts services of a target; returns the id of the job. Only administrators may. */
export async function startRestart(restart: Restart): Promise<string> {
  const { job_id } = await api('POST /api/updates/restarts', { body: restart })
  await Promise.all([readJobs(), readChecks()])
  return job_id
}

import * as z from 'zod'
import { findJob } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { defineJob, jobText } from '../../jobs/jobs.ts'
import { helped } from '../../ssh/ssh.ts'
import { ContainerAction, type ContainerTask, lastLines } from './container-task.ts'
import { CONTAINER_TOOL } from './pct.ts'

/**
 * The job that starts or stops one container with the container tool, used when no API token is configured. It runs
 * detached, as upgrades do, but shares no queue with them: an administrator may have to stop a container during its
 * upgrade.
 */
export const containerJob = defineJob({
  kind: 'container',
  event: 'container',
  args: z.object({ vmid: z.number(), action: ContainerAction }),
  queue: ({ vmid }) => `container/${vmid}`,
  // An administrator may start every container at once.
  bounds: { ofTarget: 3, ofUser: 100, ofAll: 200 },

  async command({ vmid, action }, host) {
    const pct = [CONTAINER_TOOL, action, String(vmid)]
    const elevation = await host.elevation()
    if (elevation === 'helper') return helped([action, String(vmid)])
    // Where the sudo rule covers single commands only, the job runs as the account and puts sudo before this one.
    const sudo = elevation === 'rule' ? ['sudo', '-n'] : []
    return ['env', 'LC_ALL=C', ...sudo, ...pct]
  },
})

/** Returns a container job as a task; undefined when there is no such job. */
export async function findContainerJob(db: Database, id: string): Promise<ContainerTask | undefined> {
  const job = await findJob(db, id)
  if (job?.kind !== containerJob.kind) return undefined
  // The error message of a failed job is not part of its output.
  const log = lastLines(await jobText(db, { ...job, error: null }))
  if (job.status === 'running') return { status: 'running', exit_status: null, log }
  const failed = job.error ?? log.findLast((line) => line.trim() !== '') ?? `code ${job.exit_code ?? '?'}`
  return { status: 'stopped', exit_status: job.exit_code === 0 ? 'OK' : failed, log }
}

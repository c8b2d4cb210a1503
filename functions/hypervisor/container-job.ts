import * as z from 'zod'
import type { Database } from '../../db/client.ts'
import { findJob } from '../../db/jobs.ts'
import { helped } from '../../runtime/elevation.ts'
import { defineJob } from '../../runtime/job-kind.ts'
import { CONTAINER_TOOL } from '../updates/containers.ts'
import { jobText } from '../updates/job-text.ts'
import type { ContainerTask } from './container-task.ts'
import { ContainerAction, lastLines } from './container-task.ts'

/**
 * The job that starts or stops one container by the container tool, where there is no token for the hypervisor's API.
 * Detached, as upgrades are, but in no queue with them: one that is being upgraded may have to be stopped.
 */
export const containerJob = defineJob({
  kind: 'container',
  event: 'container',
  args: z.object({ vmid: z.number(), action: ContainerAction }),
  queue: ({ vmid }) => `container/${vmid}`,
  // An administrator may well start every container at once.
  bounds: { ofTarget: 3, ofUser: 100, ofAll: 200 },

  async command({ vmid, action }, host) {
    const pct = [CONTAINER_TOOL, action, String(vmid)]
    const elevation = await host.elevation()
    if (elevation === 'helper') return helped([action, String(vmid)])
    // Where only single commands may be run as root, the job runs as the account and asks for this one.
    const sudo = elevation === 'rule' ? ['sudo', '-n'] : []
    return ['env', 'LC_ALL=C', ...sudo, ...pct]
  },
})

/** Such a job as a task; undefined when there is none by that id. */
export async function findContainerJob(db: Database, id: string): Promise<ContainerTask | undefined> {
  const job = await findJob(db, id)
  if (job?.kind !== containerJob.kind) return undefined
  // The words of a job that failed stand apart from what it put out.
  const log = lastLines(await jobText(db, { ...job, error: null }))
  if (job.status === 'running') return { status: 'running', exit_status: null, log }
  const failed = job.error ?? log.findLast((line) => line.trim() !== '') ?? `code ${job.exit_code ?? '?'}`
  return { status: 'stopped', exit_status: job.exit_code === 0 ? 'OK' : failed, log }
}

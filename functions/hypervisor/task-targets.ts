import { findJob } from '../../db/jobs.ts'
import type { Services } from '../services.ts'
import { containerOfTask } from './api-tasks.ts'

/**
 * Returns the container that a task has started or stopped, for the declaration of the endpoint; undefined for an unknown
 * job, and for any other task of the hypervisor.
 */
export async function targetsOfTask(
  { params: { task } }: { params: { task: string } },
  { db }: Pick<Services, 'db'>,
): Promise<string[] | undefined> {
  const vmid = containerOfTask(task)
  if (vmid !== undefined) return [`lxc:${vmid}`]
  const job = await findJob(db, task)
  return job && [job.target]
}

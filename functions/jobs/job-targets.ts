import { findJob } from '../../db/jobs.ts'
import type { Services } from '../services.ts'

/** Returns the target of the job in a request, for its declaration; undefined for an unknown job. */
export async function targetsOfJob(
  { params: { id } }: { params: { id: string } },
  { db }: Pick<Services, 'db'>,
): Promise<string[] | undefined> {
  const job = await findJob(db, id)
  return job && [job.target]
}

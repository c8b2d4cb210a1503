import * as z from 'zod'
import { findJob } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import { readOutput } from '../db/output.ts'

const LINES = 20
/** Read from the end of an output: more than that many lines have, apart from very long ones. */
const BYTES = 8 * 1024
/** Jobs of one notice whose output is shown. */
const MOST_JOBS = 5

/** The events of jobs that failed. */
const FAILED: readonly string[] = ['upgrade_failed', 'regressed', 'rolled_back', 'rollback_failed']

const OfJob = z.object({ job: z.string() })

/** Returns the last lines of the output of each failed job that the events tell of, by job. */
export async function lastLines(
  db: Database,
  events: readonly { event: string; details: unknown }[],
): Promise<Map<string, string>> {
  const failed = events.filter(({ event }) => FAILED.includes(event))
  const jobs = new Set(failed.flatMap(({ details }) => OfJob.safeParse(details).data?.job ?? []))
  const found = new Map<string, string>()
  for (const id of [...jobs].slice(0, MOST_JOBS)) {
    const job = await findJob(db, id)
    if (!job) continue
    const from = Math.max(job.output_from, job.output_size - BYTES)
    const chunks = await readOutput(db, id, from, BYTES)
    const text = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
    const lines = text.trimEnd().split('\n').slice(-LINES)
    if (text.trim() !== '') found.set(id, lines.join('\n'))
  }
  return found
}

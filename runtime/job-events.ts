import type { JobRow } from '../db/jobs.ts'

/** The topic of a job's events; `event` is the kind's. */
export function jobTopic(event: string, id: string): string {
  return `${event}:${id}`
}

/** The event that closes a job's topic; none for a job whose target was invalid. */
export function finalEvent(event: string, { id, status, error, error_code, output_size }: JobRow) {
  if (status === 'success') return { type: `${event}_done`, seq: output_size, data: { job_id: id } }
  if (error_code === 'target_invalid') return undefined
  return { type: `${event}_error`, seq: output_size, data: { error } }
}

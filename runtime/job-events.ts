import type { JobRow } from '../db/jobs.ts'
import type { OutputChunk } from '../db/output.ts'
import type { HubEvent } from './hub.ts'

/** The topic of a job's events; `event` is the kind's. */
export function jobTopic(event: string, id: string): string {
  return `${event}:${id}`
}

/** A piece of a job's output, with where it begins and ends. */
export function outputEvent(event: string, { offset, bytes }: OutputChunk): HubEvent {
  return { type: `${event}_output`, start: offset, seq: offset + bytes.length, data: { chunk: bytes.toString() } }
}

/** The event that closes a job's topic; none for a job whose target was invalid. */
export function finalEvent(
  event: string,
  { id, status, error, error_code, output_size }: JobRow,
): HubEvent | undefined {
  const at = { start: output_size, seq: output_size }
  if (status === 'success') return { type: `${event}_done`, ...at, data: { job_id: id } }
  if (error_code === 'target_invalid') return undefined
  return { type: `${event}_error`, ...at, data: { error } }
}

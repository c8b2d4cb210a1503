import type { JobRow } from '../db/jobs.ts'
import type { OutputChunk } from '../db/output.ts'
import type { HubEvent } from './hub.ts'
import { cutText } from './output-text.ts'

/** The topic of a job's events; `event` is the kind's. */
export function jobTopic(event: string, id: string): string {
  return `${event}:${id}`
}

/** How much output is told at a time; OpenSSH's packets are as long. */
export const EVENT_BYTES = 32 * 1024

/** A stored chunk in events of that size, cut between characters. */
export function* outputEvents(event: string, { offset, bytes }: OutputChunk): Generator<HubEvent> {
  let at = offset
  for (const piece of cutText(bytes, EVENT_BYTES)) {
    yield outputEvent(event, { offset: at, bytes: piece })
    at += piece.length
  }
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

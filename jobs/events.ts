import { randomBytes, randomInt } from 'node:crypto'
import * as z from 'zod'
import type { JobRow } from '../db/jobs.ts'
import type { OutputChunk } from '../db/output.ts'
import type { HubEvent } from '../platform/hub.ts'
import { envelope, textFrame } from '../runtime/socket.ts'
import { cutText } from './output-text.ts'

/** The topic of a job's events; `event` is the kind's. */
export function jobTopic(event: string, id: string): string {
  return `${event}:${id}`
}

/** The events of one kind of job, as they are sent. */
export function jobEventFrames(event: string) {
  const topic = `${event}:<job_id>`
  return {
    [`${event}_output`]: textFrame(
      'A piece of the output; `seq` is the byte offset after it, where `from` goes on.',
      envelope(`${event}_output`, topic, z.object({ chunk: z.string() })),
      { type: `${event}_output`, topic: `${event}:1772366400-k3x9q2pa`, seq: 17, data: { chunk: 'Reading package…' } },
    ),
    [`${event}_phase`]: textFrame(
      'A protected upgrade begins this phase. `seq` is the position in the output, as in the event before.',
      envelope(`${event}_phase`, topic, z.object({ phase: z.string() })),
      { type: `${event}_phase`, topic: `${event}:1772366400-k3x9q2pa`, seq: 17, data: { phase: 'settling' } },
    ),
    [`${event}_done`]: textFrame(
      'The job has ended, and was followed to its end. `seq` is the length of its output.',
      envelope(`${event}_done`, topic, z.object({ job_id: JobId })),
      {
        type: `${event}_done`,
        topic: `${event}:1772366400-k3x9q2pa`,
        seq: 1834,
        data: { job_id: '1772366400-k3x9q2pa' },
      },
    ),
    [`${event}_error`]: textFrame(
      'The job has failed, or was cancelled; `error` says why, in French.',
      envelope(`${event}_error`, topic, z.object({ error: z.string() })),
      {
        type: `${event}_error`,
        topic: `${event}:1772366400-k3x9q2pa`,
        seq: 1834,
        data: { error: 'Annulé par alice' },
      },
    ),
  }
}

/** Bytes of output in one event, as many as in one packet of OpenSSH. */
export const EVENT_BYTES = 32 * 1024

/** Splits a stored chunk into events of at most `EVENT_BYTES`, cut between characters. */
export function* outputEvents(event: string, { offset, bytes }: OutputChunk): Generator<HubEvent> {
  let at = offset
  for (const piece of cutText(bytes, EVENT_BYTES)) {
    yield outputEvent(event, { offset: at, bytes: piece })
    at += piece.length
  }
}

/** The event of a piece of output: `start` and `seq` are its first byte and the byte after its last. */
export function outputEvent(event: string, { offset, bytes }: OutputChunk): HubEvent {
  return { type: `${event}_output`, start: offset, seq: offset + bytes.length, data: { chunk: bytes.toString() } }
}

/** The event of a job that begins another phase. It has no place in the output, only that of the published output. */
export function phaseEvent(event: string, at: number, phase: string): HubEvent {
  return { type: `${event}_phase`, start: at, seq: at, data: { phase } }
}

/** The event that closes a job's topic; undefined for a job whose target was invalid. */
export function finalEvent(
  event: string,
  { id, status, error, error_code, output_size }: JobRow,
): HubEvent | undefined {
  const at = { start: output_size, seq: output_size }
  if (status === 'success') return { type: `${event}_done`, ...at, data: { job_id: id } }
  if (error_code === 'target_invalid') return undefined
  return { type: `${event}_error`, ...at, data: { error } }
}

/** The id of a job. The schema accepts any string; a lookup in the database decides whether the job exists. */
export const JobId = z.string().meta({
  id: 'JobId',
  description: 'Names a job.',
  examples: ['1772366400-k3x9q2pa'],
  override: { pattern: '^[0-9]+-[a-z0-9]{8}$' },
})

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `<unix seconds>-<8 of a-z, 0-9>` */
export function newJobId(now: Date): string {
  const random = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return `${Math.floor(now.getTime() / 1000)}-${random}`
}

/** A random name for a job's folder. Every account of the host can list it, so it reveals nothing of the job's id. */
export function newJobFolder(): string {
  return randomBytes(16).toString('hex')
}

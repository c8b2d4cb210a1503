import type { Database } from '../db/client.ts'
import { findJob, type JobRow } from '../db/jobs.ts'
import { readOutput } from '../db/output.ts'
import { type Frame, frame, type Hub } from './hub.ts'
import { finalEvent, jobTopic } from './job-events.ts'
import type { Socket } from './socket.ts'

/** What is read at a time for one who catches up; the next piece waits until this one has left. */
const REPLAY = 256 * 1024
/** Who lets more than this wait is too slow, and comes back with `from`. */
const TOO_SLOW = 1024 * 1024

interface Services {
  db: Database
  hub: Hub
}

/**
 * Sends a job's output from byte `from` on: first what is stored, then what comes, without a gap or a repeat, then
 * the final event, and closes. Closes with `missing` when there is no such job.
 */
export async function subscribeToJob(
  services: Services,
  socket: Socket,
  event: string,
  id: string,
  from: number,
): Promise<void> {
  const topic = jobTopic(event, id)
  let sent = from
  /** How far the stream came while the stored part was still being sent. */
  let latest = 0
  let live = false
  let finished: { frame: Frame | undefined } | undefined

  const last = async (final: Frame | undefined) => {
    if (final) await socket.send(final)
    socket.close('done')
  }
  const leave = services.hub.subscribe(topic, {
    deliver(next) {
      if (!live) latest = Math.max(latest, next.seq)
      else if (socket.waiting() > TOO_SLOW) socket.close('tooSlow')
      else if (next.seq > sent) {
        sent = next.seq
        void socket.send(next)
      }
    },
    finish(final) {
      if (live) void last(final)
      else finished = { frame: final }
    },
  })
  socket.closed.addEventListener('abort', leave)

  // Subscribed before the job is looked at: an end that comes in between is seen by one or the other.
  const job = await findJob(services.db, id)
  if (!job) return socket.close('missing')
  sent = Math.min(from, job.output_size)
  for (;;) {
    const chunks = await readOutput(services.db, id, sent, REPLAY)
    for (const { offset, bytes } of chunks) {
      if (socket.closed.aborted) return
      sent = offset + bytes.length
      await socket.send(outputFrame(topic, event, sent, bytes))
    }
    if (socket.closed.aborted) return
    if (chunks.length > 0 || sent < latest) continue
    if (finished) return last(finished.frame)
    if (job.status !== 'running') return last(finalFrame(topic, event, job))
    live = true
    return
  }
}

/** Sends only what comes from now on of a running job; one that has ended closes at once. */
export async function subscribeToLiveOutput(
  { db, hub }: Services,
  socket: Socket,
  event: string,
  id: string,
): Promise<void> {
  const leave = hub.subscribe(jobTopic(event, id), {
    deliver(next) {
      if (socket.waiting() > TOO_SLOW) socket.close('tooSlow')
      else void socket.send(next)
    },
    finish(final) {
      void (final ? socket.send(final) : Promise.resolve()).then(() => socket.close('done'))
    },
  })
  socket.closed.addEventListener('abort', leave)
  const job = await findJob(db, id)
  if (!job) socket.close('missing')
  else if (job.status !== 'running') socket.close('done')
}

function outputFrame(topic: string, event: string, seq: number, bytes: Buffer): Frame {
  return frame(topic, { type: `${event}_output`, seq, data: { chunk: bytes.toString() } })
}

function finalFrame(topic: string, event: string, job: JobRow): Frame | undefined {
  const final = finalEvent(event, job)
  return final && frame(topic, final)
}

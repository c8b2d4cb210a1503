/*
 * Sends a job's output to a socket, from the database first and then live. Without the switch by byte offset, a client
 * that joins late or reconnects would miss output or get it twice.
 */
import { findJob } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import { readOutput } from '../db/output.ts'
import { type Frame, frame, type Hub, type HubEvent } from '../platform/hub.ts'
import type { Socket } from '../runtime/socket.ts'
import { finalEvent, jobTopic, outputEvents, phaseEvent } from './events.ts'
import type { Jobs } from './manager.ts'

/** Bytes of one read of stored output. The next read waits until these bytes are sent. */
const REPLAY = 256 * 1024
/**
 * A subscriber with more unsent bytes than this is too slow. Its socket closes, and the client comes back with `from`.
 */
const TOO_SLOW = 1024 * 1024

interface Services {
  db: Database
  hub: Hub
  jobs: Pick<Jobs, 'relay'>
}

/**
 * Sends a job's output from byte `from` on: the stored part, then the live part without a gap or a repetition, then the
 * final event, and closes. Closes with `missing` when there is no such job, and with `failed` when the stored output
 * cannot be read; the client then resumes with `from`.
 */
export async function subscribeToJob(
  { db, hub, jobs }: Services,
  socket: Socket,
  event: string,
  id: string,
  from: number,
): Promise<void> {
  const topic = jobTopic(event, id)
  let sent = from
  /** The end of the live output that arrived while the stored part was being sent. */
  let latest = 0
  let live = false
  /** The latest phase that began while the stored part was being sent. */
  let begun: Frame | undefined
  let finished: { frame: Frame | undefined } | undefined

  const last = async (final: Frame | undefined) => {
    if (final) await socket.send(final)
    socket.close('done')
  }
  const fail = (error: unknown) => {
    if (!socket.closed.aborted) socket.fail(error)
  }
  const leave = hub.subscribe(topic, {
    deliver(next) {
      if (!live) {
        latest = Math.max(latest, next.seq)
        if (next.start === next.seq) begun = next
      } else if (socket.bufferedBytes() > TOO_SLOW) socket.close('tooSlow')
      else if (next.start === sent) {
        sent = next.seq
        void socket.send(next)
      } else if (next.seq > sent || next.start === next.seq) {
        // The job has a new follower: the output in the gap is stored. Or another phase begins before what was sent.
        live = false
        latest = next.seq
        void catchUp().catch(fail)
      }
    },
    finish(final) {
      if (live && (final === undefined || final.seq <= sent)) void last(final)
      else {
        finished = { frame: final }
        if (live) {
          live = false
          void catchUp().catch(fail)
        }
      }
    },
    fail,
  })
  socket.closed.addEventListener('abort', leave)

  /** Sends stored output until none is left, then switches to live output or ends the subscription. */
  const catchUp = async (): Promise<void> => {
    for (;;) {
      const job = await findJob(db, id)
      if (!job) return socket.close('missing')
      // A running job may come to what the client has: after a rollback of the service's own data, less is stored.
      const known = job.status === 'running' ? sent : Math.min(sent, job.output_size)
      // Output that retention has removed is skipped.
      sent = Math.max(known, job.output_from)
      const chunks = await readOutput(db, id, sent, REPLAY)
      for (const chunk of chunks) {
        for (const piece of outputEvents(event, chunk)) {
          if (socket.closed.aborted) return
          sent = piece.seq
          await socket.send(frame(topic, piece))
        }
      }
      if (socket.closed.aborted) return
      if (chunks.length > 0 || sent < latest) continue
      if (finished) return last(finished.frame)
      if (job.status !== 'running') return last(finalFrame(topic, finalEvent(event, job)))
      live = true
      const current = job.phase === null ? undefined : frame(topic, phaseEvent(event, sent, job.phase))
      const phase = begun && begun.seq >= sent ? begun : current
      begun = undefined
      if (phase) void socket.send(phase)
      return jobs.relay(event, id, sent)
    }
  }
  // The subscription starts before the job is read, so an end in between is not missed.
  await catchUp()
}

/** Sends only the output of a running job from now on. Closes at once when the job has ended. */
export async function subscribeToLiveOutput(
  { db, hub, jobs }: Services,
  socket: Socket,
  event: string,
  id: string,
): Promise<void> {
  let sent = 0
  const leave = hub.subscribe(jobTopic(event, id), {
    deliver(next) {
      // During a takeover both followers may publish the same output.
      if (next.seq < sent || (next.seq === sent && next.start < next.seq)) return
      sent = next.seq
      if (socket.bufferedBytes() > TOO_SLOW) socket.close('tooSlow')
      else void socket.send(next)
    },
    finish(final) {
      void (final ? socket.send(final) : Promise.resolve()).then(() => socket.close('done'))
    },
    fail: socket.fail,
  })
  socket.closed.addEventListener('abort', leave)
  const job = await findJob(db, id)
  if (!job) socket.close('missing')
  else if (job.status !== 'running') socket.close('done')
  else jobs.relay(event, id, job.output_size)
}

function finalFrame(topic: string, final: HubEvent | undefined): Frame | undefined {
  return final && frame(topic, final)
}

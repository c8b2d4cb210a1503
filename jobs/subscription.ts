import { findJob } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import { readOutput } from '../db/output.ts'
import { type Frame, frame, type Hub, type HubEvent } from '../runtime/hub.ts'
import type { Socket } from '../runtime/socket.ts'
import { finalEvent, jobTopic, outputEvents } from './events.ts'
import type { Jobs } from './manager.ts'

/** What is read at a time for one who catches up; the next piece waits until this one has left. */
const REPLAY = 256 * 1024
/** Who lets more than this wait is too slow, and comes back with `from`. */
const TOO_SLOW = 1024 * 1024

interface Services {
  db: Database
  hub: Hub
  jobs: Pick<Jobs, 'tell'>
}

/**
 * Sends a job's output from byte `from` on: first what is stored, then what comes, without a gap or a repeat, then
 * the final event, and closes. Closes with `missing` when there is no such job, and with `failed` when what is stored cannot
 * be read: `from` then goes on where it broke off.
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
  /** How far the stream came while the stored part was still being sent. */
  let latest = 0
  let live = false
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
      if (!live) latest = Math.max(latest, next.seq)
      else if (socket.waiting() > TOO_SLOW) socket.close('tooSlow')
      else if (next.start === sent) {
        sent = next.seq
        void socket.send(next)
      } else if (next.seq > sent) {
        // Whoever tells of the job has changed: what lies between is stored.
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

  /** Sends what is stored until that is all there is; `status` is the job's as it was read before. */
  const catchUp = async (): Promise<void> => {
    for (;;) {
      const job = await findJob(db, id)
      if (!job) return socket.close('missing')
      // What retention has removed is passed over.
      sent = Math.max(Math.min(sent, job.output_size), job.output_from)
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
      return jobs.tell(event, id, sent)
    }
  }
  // Subscribed before the job is looked at: an end that comes in between is seen by one or the other.
  await catchUp()
}

/** Sends only what comes from now on of a running job; one that has ended closes at once. */
export async function subscribeToLiveOutput(
  { db, hub, jobs }: Services,
  socket: Socket,
  event: string,
  id: string,
): Promise<void> {
  let sent = 0
  const leave = hub.subscribe(jobTopic(event, id), {
    deliver(next) {
      // While a job changes hands both may tell of it.
      if (next.seq <= sent) return
      sent = next.seq
      if (socket.waiting() > TOO_SLOW) socket.close('tooSlow')
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
  else jobs.tell(event, id, job.output_size)
}

function finalFrame(topic: string, final: HubEvent | undefined): Frame | undefined {
  return final && frame(topic, final)
}

import { findJob } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import { readOutput } from '../db/output.ts'
import type { Log } from '../platform/log.ts'
import type { Hub } from '../platform/hub.ts'
import { finalEvent, jobTopic, outputEvents, phaseEvent } from './events.ts'

/** Publishes at this instance the output that another instance stores, as long as the topic has subscribers. */
export interface JobRelay {
  /** Starts with the byte `from`, unless the job is being relayed already. */
  start(event: string, id: string, from: number): void
  stop(): void
}

/** Too short for a person to notice. Ten watched jobs cost forty queries a second. */
const POLL_MS = 250
/** Pause after a failed query. */
const RETRY_MS = 1_000
/** Bytes of one read. */
const PIECE = 256 * 1024

/** `isHere` returns true if this instance follows the job itself, and therefore publishes its output. */
export function createJobRelay(
  { db, hub, log }: { db: Database; hub: Hub; log: Log },
  isHere: (id: string) => boolean,
): JobRelay {
  const relayed = new Set<string>()
  let stopped = false

  /** Publishes the stored output from a byte on. Returns the offset after it, or undefined when the job has ended. */
  const publishStored = async (
    event: string,
    id: string,
    from: number,
    phaseBegun: (phase: string) => boolean,
  ): Promise<number | undefined> => {
    const topic = jobTopic(event, id)
    // The row is read before the output: all output up to the end is then published before the end.
    const job = await findJob(db, id)
    if (!job) return undefined
    let at = from
    while (at < job.output_size) {
      const chunks = await readOutput(db, id, at, PIECE)
      if (chunks.length === 0) break
      for (const chunk of chunks) {
        for (const piece of outputEvents(event, chunk)) {
          at = piece.seq
          hub.publish(topic, piece)
        }
      }
    }
    if (job.phase !== null && phaseBegun(job.phase)) hub.publish(topic, phaseEvent(event, at, job.phase))
    if (job.status === 'running') return at
    hub.finish(topic, finalEvent(event, job))
    return undefined
  }

  const follow = async (event: string, id: string, from: number): Promise<void> => {
    let failing = false
    let phase: string | undefined
    const phaseBegun = (begun: string) => {
      const isNew = begun !== phase
      phase = begun
      return isNew
    }
    for (let at = from; ; ) {
      if (stopped || hub.subscribers(jobTopic(event, id)) === 0) return
      // After a takeover by this instance, the relay still publishes what the previous follower stored.
      const takenOver = isHere(id)
      try {
        const next = await publishStored(event, id, at, phaseBegun)
        if (next === undefined || takenOver) return
        at = next
        failing = false
      } catch (error) {
        if (!failing) log.warn({ job: id, err: error }, 'a job of another instance could not be looked at')
        failing = true
      }
      await new Promise<void>((resolve) => setTimeout(resolve, failing ? RETRY_MS : POLL_MS).unref())
    }
  }

  return {
    start(event, id, from) {
      const topic = jobTopic(event, id)
      if (relayed.has(topic) || isHere(id)) return
      relayed.add(topic)
      void follow(event, id, from).finally(() => relayed.delete(topic))
    },
    stop() {
      stopped = true
    },
  }
}

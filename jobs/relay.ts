import { findJob } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import { readOutput } from '../db/output.ts'
import type { Log } from '../platform/log.ts'
import type { Hub } from '../runtime/hub.ts'
import { finalEvent, jobTopic, outputEvents } from './events.ts'

/** Tells here what another instance stores of a job, as long as somebody listens. */
export interface JobRelay {
  /** Begins with that byte, unless it is told already. */
  begin(event: string, id: string, from: number): void
  stop(): void
}

/** A person sees no difference; ten watched jobs are forty queries a second. */
const LOOK_MS = 250
/** After a failure: whoever listens waits anyway. */
const AGAIN_MS = 1_000
/** What is read at a time. */
const PIECE = 256 * 1024

/** `isHere` says that this instance sees to a job itself, and tells of it. */
export function createJobRelay(
  { db, hub, log }: { db: Database; hub: Hub; log: Log },
  isHere: (id: string) => boolean,
): JobRelay {
  const told = new Set<string>()
  let stopped = false

  /** Tells what there is from a byte on; where that ends, or undefined when the job has. */
  const look = async (event: string, id: string, from: number): Promise<number | undefined> => {
    const topic = jobTopic(event, id)
    // Read first: what is stored until then is told before the end is.
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
    if (job.status === 'running') return at
    hub.finish(topic, finalEvent(event, job))
    return undefined
  }

  const follow = async (event: string, id: string, from: number): Promise<void> => {
    let failing = false
    for (let at = from; ; ) {
      if (stopped || hub.subscribers(jobTopic(event, id)) === 0) return
      // What the former one stored to the last is told here, what comes now by who has it.
      const taken = isHere(id)
      try {
        const next = await look(event, id, at)
        if (next === undefined || taken) return
        at = next
        failing = false
      } catch (error) {
        if (!failing) log.warn({ job: id, err: error }, 'a job of another instance could not be looked at')
        failing = true
      }
      await new Promise<void>((resolve) => setTimeout(resolve, failing ? AGAIN_MS : LOOK_MS).unref())
    }
  }

  return {
    begin(event, id, from) {
      const topic = jobTopic(event, id)
      if (told.has(topic) || isHere(id)) return
      told.add(topic)
      void follow(event, id, from).finally(() => told.delete(topic))
    },
    stop() {
      stopped = true
    },
  }
}

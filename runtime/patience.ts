import { setTimeout as pause } from 'node:timers/promises'
import { StorageError } from '../db/client.ts'
import type { Log } from './log.ts'

/** Between two tries; the last one again and again. */
const PAUSES_MS = [250, 1_000, 3_000]

/**
 * Does it again while the database fails, for as long as it takes: what a job puts out is safe at the host, and without
 * the database there is nowhere to say that it went wrong. Rejects with anything else, and when `signal` aborts.
 */
export async function patiently<result>(
  { log, signal, job }: { log: Log; signal: AbortSignal; job: string },
  work: () => Promise<result>,
): Promise<result> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (tries === 0) log.error({ job, err: error }, 'the database failed; again and again until it answers')
      else log.debug({ job, err: error }, 'the database fails still')
      await pause(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)], undefined, { signal })
    }
  }
}

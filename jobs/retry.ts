import { setTimeout as pause } from 'node:timers/promises'
import { StorageError } from '../db/libsql/database.ts'
import type { Log } from '../platform/log.ts'
import { Failure } from '../runtime/errors.ts'
import { SshError } from '../ssh/ssh.ts'

/** How long a job goes on being looked for at a host that does not answer. */
const PATIENCE_MS = 300_000
/** A refused password is not offered for so long: it locks accounts. */
const REFUSED_MS = 30_000
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 15_000

/**
 * Does some work at the host again whenever the connection is lost, with growing pauses, and gives up with its error
 * when that has gone on for five minutes. The work calls `reached` when it has the host's ear: from then on the time
 * counts anew. Settings that are unfit count as a lost connection, because somebody may be mending them.
 */
export async function retryHost<result>(
  {
    log,
    signal,
    job,
    clock = () => performance.now(),
  }: { log: Log; signal: AbortSignal; job: string; clock?(): number },
  work: (reached: () => void) => Promise<result>,
): Promise<result> {
  let since: number | undefined
  let wait = FIRST_PAUSE_MS
  const reached = () => {
    since = undefined
    wait = FIRST_PAUSE_MS
  }
  for (;;) {
    try {
      return await work(reached)
    } catch (error) {
      if (!(error instanceof SshError || error instanceof Failure)) throw error
      since ??= clock()
      const patience = error instanceof SshError && error.reason === 'bad_credentials' ? REFUSED_MS : PATIENCE_MS
      if (clock() - since >= patience) throw error
      log.warn({ job, err: error, wait }, 'the host is not reached; once more in a moment')
      await pause(wait, undefined, { signal })
      wait = Math.min(wait * 2, LONGEST_PAUSE_MS)
    }
  }
}

/** Between two tries; the last one again and again. */
const PAUSES_MS = [250, 1_000, 3_000]

/**
 * Does it again while the database fails, for as long as it takes: what a job puts out is safe at the host, and without
 * the database there is nowhere to say that it went wrong. Rejects with anything else, and when `signal` aborts.
 */
export async function retryStorage<result>(
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

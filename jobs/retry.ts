import { StorageError } from '../db/libsql/database.ts'
import type { Log } from '../platform/log.ts'
import { retry } from '../platform/retry.ts'
import { Failure } from '../runtime/errors.ts'
import { SshError } from '../ssh/ssh.ts'

/** How long work is retried, in milliseconds. */
export interface Patience {
  /** At a host that does not answer. */
  away: number
  /** At a host that refuses the password, from its first refusal: shorter, because wrong passwords lock accounts. */
  refused: number
}

const PATIENCE: Patience = { away: 300_000, refused: 30_000 }
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 15_000

/**
 * Retries work at the host with backoff whenever the connection is lost, and rejects with the last error after five
 * minutes, or after the time that `patience` returns. The work calls `connected` when the host answers, which resets the time and
 * the backoff. Incomplete or wrong settings count as a lost connection, because an administrator may be correcting them.
 */
export async function retryHost<result>(
  {
    log,
    signal,
    job,
    clock = () => performance.now(),
    patience = () => undefined,
  }: { log: Log; signal: AbortSignal; job: string; clock?(): number; patience?(): Patience | undefined },
  work: (connected: () => void) => Promise<result>,
): Promise<result> {
  let since: number | undefined
  let refusedSince: number | undefined
  let wait = FIRST_PAUSE_MS
  const connected = () => {
    since = undefined
    refusedSince = undefined
    wait = FIRST_PAUSE_MS
  }
  const pauseAfter = (error: unknown): number | undefined => {
    if (!(error instanceof SshError || error instanceof Failure)) return undefined
    const now = clock()
    const { away, refused } = patience() ?? PATIENCE
    since ??= now
    if (error instanceof SshError && error.reason === 'bad_credentials') {
      refusedSince ??= now
      if (now - refusedSince >= refused) return undefined
    }
    if (now - since >= away) return undefined
    const pause = wait
    wait = Math.min(wait * 2, LONGEST_PAUSE_MS)
    log.warn({ job, err: error, wait: pause }, 'the host is not reached; once more in a moment')
    return pause
  }
  return retry(() => work(connected), pauseAfter, signal)
}

/** Pauses between attempts; the last one repeats. */
const PAUSES_MS = [250, 1_000, 3_000]

/**
 * Retries work while the database fails, without a limit: the output of a job is safe on the host, and without the
 * database a failure cannot be recorded. Rejects with any other error, and when `signal` aborts.
 */
export async function retryStorage<result>(
  { log, signal, job }: { log: Log; signal: AbortSignal; job: string },
  work: () => Promise<result>,
): Promise<result> {
  const pauseAfter = (error: unknown, failures: number): number | undefined => {
    if (!(error instanceof StorageError)) return undefined
    if (failures === 0) log.error({ job, err: error }, 'the database failed; again and again until it answers')
    else log.debug({ job, err: error }, 'the database fails still')
    return PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]
  }
  return retry(work, pauseAfter, signal)
}

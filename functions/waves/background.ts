import type { Clock } from '../../platform/clock.ts'

/**
 * Work of one run that asks the host, which may take minutes. A tick starts it, goes on with other runs, and takes the
 * result some ticks later. It is lost with its process: whoever holds the run then begins it again.
 */
export interface Background<result> {
  /**
   * Returns the result of the work of a run, undefined until it is there. Starts the work unless it is under way, has been
   * put off, or is another one. A result is kept until `drop`.
   */
  get(run: string, name: string, work: (signal: AbortSignal) => Promise<result>): result | undefined
  /** Returns the last result, also of work that was put off. */
  last(run: string): result | undefined
  /** Does the work again, some seconds later. */
  putOff(run: string): void
  /** Ends the work of a run and forgets its result. */
  drop(run: string): void
  /** Ends the work of every run that is not one of these. */
  keepOnly(runs: ReadonlySet<string>): void
}

/** A host that is away is asked again after this time. */
const AGAIN_MS = 10_000

interface Entry<result> {
  name: string
  aborting: AbortController
  result: result | undefined
  last: result | undefined
  /** The time of the next start; undefined while the work is under way or done. */
  again: { since: number } | undefined
}

/** `failed` makes the result of work that has thrown. */
export function createBackground<result>(clock: Clock, failed: (error: unknown) => result): Background<result> {
  const entries = new Map<string, Entry<result>>()
  const drop = (run: string) => {
    entries.get(run)?.aborting.abort()
    entries.delete(run)
  }
  return {
    drop,
    last: (run) => entries.get(run)?.last,
    get(run, name, work) {
      const known = entries.get(run)
      if (known?.name === name) {
        const waited = known.again && clock().getTime() - known.again.since
        // A clock that was set back must not keep it waiting.
        if (waited === undefined || (waited >= 0 && waited < AGAIN_MS)) return known.result
      }
      const last = known?.name === name ? known.last : undefined
      drop(run)
      const entry: Entry<result> = { name, aborting: new AbortController(), result: undefined, last, again: undefined }
      entries.set(run, entry)
      void work(entry.aborting.signal)
        .catch(failed)
        .then((result) => {
          entry.result = result
          entry.last = result
        })
      return undefined
    },
    putOff(run) {
      const known = entries.get(run)
      if (known) Object.assign(known, { result: undefined, again: { since: clock().getTime() } })
    },
    keepOnly(runs) {
      for (const run of entries.keys()) if (!runs.has(run)) drop(run)
    },
  }
}

/** Lets a bounded number of pieces of work run at once; the rest wait, up to a bound as well. */
export interface Gate {
  /**
   * Runs the work in its turn; undefined, without having run it, when too many wait already or `signal` gave up. The
   * lowest rank goes first, equal ones in order; a full queue gives up its last place to a lower rank.
   */
  enter<result>(
    work: () => Promise<result>,
    turn?: { rank?: number; signal?: AbortSignal },
  ): Promise<{ result: result } | undefined>
}

interface Waiting {
  rank: number
  /** Ends the wait: with a place, or without. */
  settle(admitted: boolean): void
}

export function createGate({ running, waiting }: { running: number; waiting: number }): Gate {
  let inside = 0
  const queue: Waiting[] = []

  const wait = (rank: number, signal: AbortSignal | undefined): Promise<boolean> => {
    const last = queue.at(-1)
    if (signal?.aborted) return Promise.resolve(false)
    if (queue.length >= waiting) {
      if (!last || last.rank <= rank) return Promise.resolve(false)
      last.settle(false)
    }
    return new Promise((resolve) => {
      const giveUp = () => entry.settle(false)
      const entry: Waiting = {
        rank,
        settle(admitted) {
          queue.splice(queue.indexOf(entry), 1)
          signal?.removeEventListener('abort', giveUp)
          resolve(admitted)
        },
      }
      signal?.addEventListener('abort', giveUp)
      const behind = queue.findIndex((other) => other.rank > rank)
      queue.splice(behind < 0 ? queue.length : behind, 0, entry)
    })
  }

  return {
    async enter(work, { rank = 0, signal } = {}) {
      if (inside < running) inside += 1
      else if (!(await wait(rank, signal))) return undefined
      try {
        return { result: await work() }
      } finally {
        // The place is handed on, not freed and taken again, so nobody can step in between.
        const next = queue[0]
        if (next) next.settle(true)
        else inside -= 1
      }
    },
  }
}

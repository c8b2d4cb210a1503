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
  /** What holds work back has changed: looks again who may begin. */
  review(): void
}

/** What holds work back that would have a place. */
export interface Pace {
  /** Milliseconds until work of this rank may begin, infinite until `review`; a lower rank's is never longer. */
  delay(rank: number): number
  /** Some work begins. */
  begin(): void
}

interface Waiting {
  rank: number
  /** Ends the wait: with a place, or without. */
  settle(admitted: boolean): void
}

const UNHINDERED: Pace = { delay: () => 0, begin: () => {} }

export function createGate({ running, waiting }: { running: number; waiting: number }, pace: Pace = UNHINDERED): Gate {
  let inside = 0
  const queue: Waiting[] = []
  let timer: NodeJS.Timeout | undefined

  const begin = () => {
    inside += 1
    pace.begin()
  }

  /** Lets in who may begin: at once, so that nobody can step in between. */
  const review = () => {
    clearTimeout(timer)
    for (let next = queue[0]; next && inside < running; next = queue[0]) {
      const ms = pace.delay(next.rank)
      if (ms > 0) {
        if (ms !== Number.POSITIVE_INFINITY) timer = setTimeout(review, Math.ceil(ms))
        return
      }
      begin()
      next.settle(true)
    }
  }

  const wait = (rank: number, signal: AbortSignal | undefined): Promise<boolean> => {
    const last = queue.at(-1)
    if (signal?.aborted) return Promise.resolve(false)
    if (inside + queue.length >= running + waiting) {
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
          if (queue.length === 0) clearTimeout(timer)
          resolve(admitted)
        },
      }
      signal?.addEventListener('abort', giveUp)
      const behind = queue.findIndex((other) => other.rank > rank)
      queue.splice(behind < 0 ? queue.length : behind, 0, entry)
      if (queue[0] === entry) review()
    })
  }

  return {
    async enter(work, { rank = 0, signal } = {}) {
      const first = queue[0]
      if (inside < running && (!first || first.rank > rank) && pace.delay(rank) === 0) begin()
      else if (!(await wait(rank, signal))) return undefined
      try {
        return { result: await work() }
      } finally {
        inside -= 1
        review()
      }
    },
    review,
  }
}

/**
 * A queue that runs a bounded number of tasks at once. Further tasks wait, up to a second bound. It protects the host
 * from a flood of password checks, and lets sign-ins of known addresses pass the flood.
 */
export interface PriorityQueue {
  /**
   * Runs the work once a slot is free. Returns undefined without running it when the queue is full or `signal` aborts
   * first. The lowest rank goes first; equal ranks keep their order. A full queue drops its last entry for one of a
   * lower rank.
   */
  run<result>(
    work: () => Promise<result>,
    options?: { rank?: number; signal?: AbortSignal },
  ): Promise<{ result: result } | undefined>
  /** Call this when the throttle has changed: starts all work that may start now. */
  recheck(): void
}

/** Delays work although a slot is free. */
export interface Throttle {
  /**
   * Milliseconds until work of this rank may begin; infinite until `recheck` is called. A lower rank never waits
   * longer.
   */
  delay(rank: number): number
  /** Called when work begins. */
  begin(): void
}

interface Waiting {
  rank: number
  /** Ends the wait: with a slot, or without one. */
  settle(admitted: boolean): void
}

const NO_THROTTLE: Throttle = { delay: () => 0, begin: () => {} }

export function createPriorityQueue(
  { running, waiting }: { running: number; waiting: number },
  throttle: Throttle = NO_THROTTLE,
): PriorityQueue {
  let active = 0
  const queue: Waiting[] = []
  let timer: NodeJS.Timeout | undefined

  const begin = () => {
    active += 1
    throttle.begin()
  }

  /** Starts waiting work that may begin. Slots are taken synchronously, so no other call can take them first. */
  const recheck = () => {
    clearTimeout(timer)
    for (let next = queue[0]; next && active < running; next = queue[0]) {
      const ms = throttle.delay(next.rank)
      if (ms > 0) {
        if (ms !== Number.POSITIVE_INFINITY) timer = setTimeout(recheck, Math.ceil(ms))
        return
      }
      begin()
      next.settle(true)
    }
  }

  const wait = (rank: number, signal: AbortSignal | undefined): Promise<boolean> => {
    const last = queue.at(-1)
    if (signal?.aborted) return Promise.resolve(false)
    if (active + queue.length >= running + waiting) {
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
      if (queue[0] === entry) recheck()
    })
  }

  return {
    async run(work, { rank = 0, signal } = {}) {
      const first = queue[0]
      if (active < running && (!first || first.rank > rank) && throttle.delay(rank) === 0) begin()
      else if (!(await wait(rank, signal))) return undefined
      try {
        return { result: await work() }
      } finally {
        active -= 1
        recheck()
      }
    },
    recheck,
  }
}

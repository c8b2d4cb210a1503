/** Lets a bounded number of pieces of work run at once; the rest wait in order, up to a bound as well. */
export interface Gate {
  /** Runs the work in its turn; undefined, without running it, when too many wait already. */
  enter<result>(work: () => Promise<result>): Promise<{ result: result } | undefined>
}

export function createGate({ running, waiting }: { running: number; waiting: number }): Gate {
  let inside = 0
  const queue: (() => void)[] = []
  return {
    async enter(work) {
      if (inside < running) inside += 1
      else if (queue.length >= waiting) return undefined
      else await new Promise<void>((resolve) => queue.push(resolve))
      try {
        return { result: await work() }
      } finally {
        // The place is handed on, not freed and taken again, so nobody can step in between.
        const next = queue.shift()
        if (next) next()
        else inside -= 1
      }
    },
  }
}

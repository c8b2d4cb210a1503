import { createRecent } from './recent.ts'

/** How well those who try to sign in are known: who was right goes before strangers, strangers before who was wrong. */
export interface Standing {
  /** Below 0 for who was right and has mistyped twice at most since, 0 for a stranger, else how often they were wrong. */
  rank(who: string): number
  right(who: string): void
  wrong(who: string): void
}

/** So many wrong passwords make a stranger of who was right: people mistype. */
const GRACE = 3
/** A flood of addresses cannot grow memory past four times this. */
const REMEMBERED = 10_000

export function createStanding(): Standing {
  // Apart, so that however many are wrong, nobody who was right is forgotten for them.
  const [right, others] = [createRecent<number>(REMEMBERED), createRecent<number>(REMEMBERED)]
  const rank = (who: string) => right.get(who) ?? others.get(who) ?? 0
  return {
    rank,
    right: (who) => right.set(who, -GRACE),
    wrong(who) {
      const now = rank(who) + 1
      if (now < 0) return right.set(who, now)
      right.delete(who)
      others.set(who, now)
    },
  }
}

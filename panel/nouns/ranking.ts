import { match, type Range } from './match.ts'

interface Findable {
  id: string
  title: string
  more?: string
}

export interface Found<thing> {
  of: thing
  /** What matched in its title, and in `more`. */
  inTitle: readonly Range[]
  inMore: readonly Range[]
}

/** What was chosen lately wins among those that match about as well. */
const RECENT = 3

/** What answers a search, the best first; `recent` are ids. */
export function ranked<thing extends Findable>(
  search: string,
  all: readonly thing[],
  recent: readonly string[],
): Found<thing>[] {
  return all
    .flatMap((of) => {
      const { id, title, more = '' } = of
      // What is found by its title alone comes before what `more` was needed for.
      const [byTitle, byBoth] = [match(search, title), match(search, `${title} ${more}`)]
      const found = byTitle ?? byBoth
      if (!found) return []
      const score = found.score + (recent.includes(id) ? RECENT : 0) - (byTitle ? 0 : RECENT)
      const inTitle = within(found.ranges, 0, title.length)
      return [{ of, score, inTitle, inMore: within(found.ranges, title.length + 1, title.length + 1 + more.length) }]
    })
    .sort((one, other) => other.score - one.score)
}

/** The part of the ranges that lies there, counted from there. */
function within(ranges: readonly Range[], from: number, to: number): Range[] {
  return ranges.flatMap(([start, end]) => {
    const part = [Math.max(start, from) - from, Math.min(end, to) - from] as const
    return part[0] < part[1] ? [part] : []
  })
}

import { match, type Range } from './match.ts'

interface Findable {
  id: string
  title: string
  more?: string
}

export interface Found<thing> {
  of: thing
  /** The matched ranges in the title and in `more`. */
  inTitle: readonly Range[]
  inMore: readonly Range[]
}

/** Recent choices win among similar matches. */
const RECENT = 3

/** Returns the matches of a search, the best first; `recent` contains ids. */
export function ranked<thing extends Findable>(
  search: string,
  all: readonly thing[],
  recent: readonly string[],
): Found<thing>[] {
  return all
    .flatMap((of) => {
      const { id, title, more = '' } = of
      // A match in the title alone ranks above one that needed `more`.
      const [byTitle, byBoth] = [match(search, title), match(search, `${title} ${more}`)]
      const found = byTitle ?? byBoth
      if (!found) return []
      const score = found.score + (recent.includes(id) ? RECENT : 0) - (byTitle ? 0 : RECENT)
      const inTitle = within(found.ranges, 0, title.length)
      return [{ of, score, inTitle, inMore: within(found.ranges, title.length + 1, title.length + 1 + more.length) }]
    })
    .sort((one, other) => other.score - one.score)
}

/** Clips ranges to a section and makes them relative to its start. */
function within(ranges: readonly Range[], from: number, to: number): Range[] {
  return ranges.flatMap(([start, end]) => {
    const part = [Math.max(start, from) - from, Math.min(end, to) - from] as const
    return part[0] < part[1] ? [part] : []
  })
}

import type { Style } from './ansi.ts'
import type { Line, Lines } from './lines.ts'

/** Searches a growing output and reads each line once. Line numbers count from the beginning of the output. */
export function createFinder(lines: Lines): (query: string) => readonly number[] {
  let wanted = ''
  let found: number[] = []
  /** Lines before this number were already searched. */
  let until = 0

  return (query) => {
    if (query.toLowerCase() !== wanted) {
      wanted = query.toLowerCase()
      found = []
      until = 0
    }
    if (!wanted) return []
    const dropped = lines.dropped()
    const last = dropped + lines.count() - 1
    const has = (line: number) =>
      lines
        .at(line - dropped)
        .text.toLowerCase()
        .includes(wanted)
    if ((found[0] ?? dropped) < dropped) found = found.filter((line) => line >= dropped)
    for (until = Math.max(until, dropped); until < last; until += 1) if (has(until)) found.push(until)
    // The last line may still change, so every search reads it again.
    return last >= dropped && has(last) ? [...found, last] : found
  }
}

/** The limit of marks in a line: more would slow the page down and help nobody. */
const MAX_MARKS = 200

/** A part of a line with one style, inside or outside a match. */
export interface Segment {
  text: string
  style: Style
  isFound: boolean
}

/** Splits a line where its style changes or a match starts or ends. */
export function segmentsOf({ text, spans = [{ text, style: 0 }] }: Line, query: string): Segment[] {
  const low = text.toLowerCase()
  // Some letters become longer in lower case. The search still finds such a line, but does not mark the match.
  const wanted = low.length === text.length ? query.toLowerCase() : ''
  let marks = 0
  const next = (from: number) => {
    marks += 1
    const at = wanted && marks <= MAX_MARKS ? low.indexOf(wanted, from) : -1
    return at < 0 ? Number.POSITIVE_INFINITY : at
  }
  const segments: Segment[] = []
  let begin = next(0)
  let at = 0
  for (const { text: part, style } of spans) {
    const end = at + part.length
    while (at < end) {
      if (at >= begin + wanted.length) begin = next(at)
      const isFound = at >= begin
      const to = Math.min(end, isFound ? begin + wanted.length : begin)
      segments.push({ text: text.slice(at, to), style, isFound })
      at = to
    }
  }
  return segments
}

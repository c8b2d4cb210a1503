import { classesOf } from '../nouns/ansi.ts'
import { lineKind } from '../nouns/apt-progress.ts'
import type { Lines } from '../nouns/lines.ts'
import { segmentsOf } from '../nouns/search.ts'
import { ROW } from './output-place.ts'

interface OutputRowsProps {
  lines: Lines
  /** Rows from `first` (inclusive) to `last` (exclusive) of the kept lines are rendered. */
  first: number
  last: number
  /** The current match, counted from the beginning of the output. */
  found: number | undefined
  query: string
}

/** Renders the visible lines at their position within the full height. */
export function OutputRows({ lines, first, last, found, query }: OutputRowsProps) {
  const dropped = lines.dropped()
  const rows = []
  for (let n = first; n < last; n += 1) {
    const number = dropped + n
    const line = lines.at(n)
    const kind = line.spans ? '' : (lineKind(line.text) ?? '')
    rows.push(
      <div key={number} class={number === found ? `line ${kind} found` : `line ${kind}`}>
        <i aria-hidden="true">{number + 1}</i>
        <span>
          {segmentsOf(line, query).map(({ text, style, isFound }, at) => {
            const part = style === 0 ? text : <span class={classesOf(style)}>{text}</span>
            return isFound ? <mark key={at}>{part}</mark> : part
          })}
        </span>
      </div>,
    )
  }
  const digits = Math.max(3, String(dropped + lines.count()).length)
  return (
    <div
      class="rows"
      style={{ '--digits': digits, height: `${lines.count() * ROW}px`, paddingTop: `${first * ROW}px` }}
    >
      {rows}
    </div>
  )
}

import { classesOf } from '../nouns/ansi.ts'
import { lineKind } from '../nouns/apt-progress.ts'
import type { Line, Lines } from '../nouns/lines.ts'
import { ROW } from './output.tsx'

interface OutputRowsProps {
  lines: Lines
  /** Of the kept lines; the rows from `first` to before `last` are in the page. */
  first: number
  last: number
  /** The line that is found, counted from the beginning of the output. */
  found: number | undefined
  query: string
}

/** The lines in sight, at their place in the height of all. */
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
          <Text line={line} query={query} />
        </span>
      </div>,
    )
  }
  return (
    <div class="rows" style={{ height: `${lines.count() * ROW}px`, paddingTop: `${first * ROW}px` }}>
      {rows}
    </div>
  )
}

function Text({ line: { text, spans }, query }: { line: Line; query: string }) {
  if (query) return <Marked text={text} query={query} />
  if (!spans) return <>{text}</>
  return (
    <>
      {spans.map(({ text, style }, n) => (
        <span key={n} class={classesOf(style)}>
          {text}
        </span>
      ))}
    </>
  )
}

function Marked({ text, query }: { text: string; query: string }) {
  const [low, wanted] = [text.toLowerCase(), query.toLowerCase()]
  // Some letters are longer when they are small: then it is found, and not marked.
  const at = low.length === text.length ? low.indexOf(wanted) : -1
  if (at < 0) return <>{text}</>
  const end = at + wanted.length
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, end)}</mark>
      <Marked text={text.slice(end)} query={query} />
    </>
  )
}

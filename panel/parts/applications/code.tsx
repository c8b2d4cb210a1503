import { signal, useSignal } from '@preact/signals'
import { Copy, Search } from 'lucide'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { type CodeLine, partsOf } from '../../nouns/code-lines.ts'
import type { Lines } from '../../nouns/lines.ts'
import { segmentsOf } from '../../nouns/search.ts'
import { words } from '../../words/words.ts'
import { Action, useAct } from '../action.tsx'
import { copyText } from '../clipboard.ts'
import { Icon } from '../icon.tsx'
import { type Place, ROW } from '../output-place.ts'
import { OutputSearch, useOutputSearch } from '../output-search.tsx'
import { toast } from '../toast.tsx'
import { applicationWords } from './words.ts'

/** Extra rows above and below the visible ones. */
const OVERSCAN = 12

interface CodeProps {
  label: string
  lines: readonly CodeLine[]
  /** The whole text, to be copied; none for a comparison. */
  text?: string
}

/** A text for people to judge, with the numbers of its lines. Only the visible rows are in the page, so that its size does not matter. */
export function Code({ label, lines, text }: CodeProps) {
  const { output } = words()
  const say = applicationWords().sheet
  const log = useRef<HTMLElement>(null)
  const place = useRows(log, lines.length)
  const searched = useMemo(() => asLines(lines), [lines])
  const search = useOutputSearch(searched, STILL, place)
  const copy = useAct(async () => toast((await copyText(text ?? '')) ? say.textCopied : say.notCopied))
  if (lines.length === 0) return <p class="small dim">{say.noText}</p>
  return (
    <section
      class="output code"
      aria-label={label}
      onKeyDown={(event) => {
        if (!(event.ctrlKey || event.metaKey) || event.key !== 'f') return
        search.open()
        event.preventDefault()
      }}
    >
      <div class="tools">
        <button type="button" class="button plain small" aria-expanded={search.isOpen} onClick={search.open}>
          <Icon of={Search} />
          {say.search}
        </button>
        {text !== undefined && (
          <Action act={copy} class="plain small">
            <Icon of={Copy} />
            {say.copyText}
          </Action>
        )}
      </div>
      <OutputSearch search={search} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by key. */}
      <section class="log" ref={log} tabIndex={0} aria-label={`${output.log}, ${label}`} onScroll={place.onScroll}>
        <Rows lines={lines} place={place} found={search.found} query={search.query} />
      </section>
    </section>
  )
}

/** A finished text never changes. */
const STILL = signal(0)

function asLines(lines: readonly CodeLine[]): Lines {
  return {
    feed() {},
    count: () => lines.length,
    dropped: () => 0,
    at: (index) => lines[index] ?? { text: '' },
    text: () => '',
  }
}

/** The visible part of a text that does not grow. */
function useRows(log: { current: HTMLElement | null }, count: number): Place {
  const top = useSignal(0)
  const height = useSignal(400)
  useEffect(() => {
    const observed = log.current
    if (!observed) return
    const observer = new ResizeObserver(([entry]) => {
      height.value = entry?.contentRect.height ?? height.value
    })
    observer.observe(observed)
    return () => observer.disconnect()
  }, [])
  const onScroll = () => {
    top.value = log.current?.scrollTop ?? 0
  }
  return {
    first: Math.max(0, Math.floor(top.value / ROW) - OVERSCAN),
    last: Math.min(count, Math.ceil((top.value + height.value) / ROW) + OVERSCAN),
    follows: false,
    fresh: 0,
    line: Math.ceil(top.value / ROW),
    pause() {},
    toEnd() {},
    toLine(line) {
      if (!log.current) return
      log.current.scrollTop = line * ROW - height.value / 2
      onScroll()
    },
    onScroll,
  }
}

interface RowsProps {
  lines: readonly CodeLine[]
  place: Place
  found: number | undefined
  query: string
}

function Rows({ lines, place: { first, last }, found, query }: RowsProps) {
  const digits = Math.max(3, String(lines.findLast(({ number }) => number !== undefined)?.number ?? 0).length)
  return (
    <div class="rows" style={{ '--digits': digits, height: `${lines.length * ROW}px`, paddingTop: `${first * ROW}px` }}>
      {lines.slice(first, last).map((line, at) => (
        <div key={first + at} class={`line ${line.kind ?? ''}${first + at === found ? ' found' : ''}`}>
          <i aria-hidden="true">{line.number ?? ''}</i>
          {line.kind && <b class="sign">{SIGNS[line.kind]}</b>}
          <span>
            {segmentsOf(line, query).map(({ text, isFound }, n) => {
              const shown = partsOf(text).map(({ text: part, isUnseen }, m) =>
                isUnseen ? (
                  <span key={m} class="strange">
                    {part}
                  </span>
                ) : (
                  part
                ),
              )
              return isFound ? <mark key={n}>{shown}</mark> : shown
            })}
          </span>
        </div>
      ))}
    </div>
  )
}

const SIGNS = { comes: '+', goes: '−', place: '' } as const

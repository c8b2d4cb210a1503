import { type ReadonlySignal, useSignal } from '@preact/signals'
import { ArrowDown, Copy, Download, Search } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Lines } from '../nouns/lines.ts'
import { language, words } from '../words/words.ts'
import { copyText, saveText } from './clipboard.ts'
import { Icon } from './icon.tsx'
import { OutputRows } from './output-rows.tsx'
import { OutputSearch, useOutputSearch } from './output-search.tsx'
import { useSpoken } from './spoken.ts'
import { toast } from './toast.tsx'

/** All rows are as high: where one lies is known without measuring it. */
export const ROW = 20
const BEYOND = 12

interface OutputProps {
  lines: Lines
  /** Changes when `lines` has more. */
  version: ReadonlySignal<number>
  /** What it is the output of, with its status. */
  title: ComponentChildren
  /** What it is at, in a few words; also spoken, from time to time. */
  step?: string
  /** 0 to 1; undefined while that is unknown, null for none. */
  progress?: number | undefined | null
  /** About the connection, or about what is left out. */
  notice?: ComponentChildren
  /** Nothing more will come. */
  ended: boolean
  /** Under which it is saved. */
  fileName: string
  /** All of it, where `lines` does not have all. */
  whole?: () => Promise<string[]>
  /** More buttons. */
  children?: ComponentChildren
}

/** An output as long as it may be, of which the rows in sight alone are in the page. */
export function Output({
  lines,
  version,
  title,
  step = '',
  progress = null,
  notice,
  ended,
  fileName,
  whole = async () => [lines.text()],
  children,
}: OutputProps) {
  const say = words().output
  const log = useRef<HTMLElement>(null)
  const top = useSignal(0)
  const height = useSignal(400)
  const follows = useSignal(true)
  /** How many lines there were when it stopped following. */
  const seen = useSignal(0)
  const moved = useRef(0)
  const spoken = useSpoken(step)
  void version.value
  const count = lines.count()
  const dropped = lines.dropped()

  const to = (position: number) => {
    if (!log.current) return
    log.current.scrollTop = position
    moved.current = log.current.scrollTop
    top.value = moved.current
  }
  const toEnd = () => {
    follows.value = true
    if (log.current) to(log.current.scrollHeight)
  }
  const pause = () => {
    if (!follows.value) return
    follows.value = false
    seen.value = dropped + count
  }
  const search = useOutputSearch(lines, version, (line) => {
    pause()
    to((line - lines.dropped()) * ROW - height.value / 2)
  })

  useEffect(() => {
    if (!log.current) return
    const observer = new ResizeObserver(([entry]) => {
      height.value = entry?.contentRect.height ?? height.value
    })
    observer.observe(log.current)
    return () => observer.disconnect()
  }, [])
  // What is let go at the beginning must not move what one reads.
  const droppedBefore = useRef(dropped)
  useEffect(() => {
    if (follows.value) toEnd()
    else if (dropped > droppedBefore.current) to(top.value - (dropped - droppedBefore.current) * ROW)
    droppedBefore.current = dropped
  }, [count, dropped, follows.value, height.value])

  const onScroll = ({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: { currentTarget: HTMLElement }) => {
    top.value = scrollTop
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - ROW / 2
    if (isAtEnd) follows.value = true
    // Only people scroll upwards.
    else if (scrollTop < moved.current - 1) pause()
    moved.current = scrollTop
  }
  const fresh = follows.value ? 0 : Math.max(0, dropped + count - seen.value)
  const first = Math.max(0, Math.floor(top.value / ROW) - BEYOND)
  const last = Math.min(count, Math.ceil((top.value + height.value) / ROW) + BEYOND)
  const copy = async () => toast((await copyText(lines.text())) ? say.copied : say.notCopied)

  return (
    <section
      class="output"
      aria-label={say.title}
      onKeyDown={(event) => {
        if ((event.ctrlKey || event.metaKey) && event.key === 'f') {
          event.preventDefault()
          search.open()
        }
      }}
    >
      <div class="bar">
        <div class="what">
          {title}
          {step && <span class="dim">{step}</span>}
        </div>
        <div class="tools">
          {!ended && (
            <button
              type="button"
              class="button small"
              aria-pressed={follows.value}
              title={say.followHint}
              data-key="f"
              onClick={() => (follows.value ? pause() : toEnd())}
            >
              <Icon of={ArrowDown} />
              {say.follow}
            </button>
          )}
          <button type="button" class="button small" aria-expanded={search.isOpen} onClick={search.open}>
            <Icon of={Search} />
            {say.search}
          </button>
          <button type="button" class="button small" onClick={() => void copy()}>
            <Icon of={Copy} />
            {say.copy}
          </button>
          <button type="button" class="button small" onClick={() => void saveText(fileName, whole())}>
            <Icon of={Download} />
            {say.download}
          </button>
          {children}
        </div>
      </div>
      <OutputSearch search={search} />
      {progress !== null && (
        <progress aria-label={say.progress} max={1} {...(progress !== undefined && { value: progress })} />
      )}
      {notice && (
        <div class="notice" role="status">
          {notice}
        </div>
      )}
      {dropped > 0 && <p class="notice">{say.dropped(new Intl.NumberFormat(language()).format(dropped))}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by key. */}
      <section class="log" ref={log} tabIndex={0} aria-label={say.log} onScroll={onScroll}>
        {count === 0 && <p class="dim nothing">{ended ? say.emptyEnded : say.empty}</p>}
        <OutputRows lines={lines} first={first} last={last} found={search.found} query={search.query} />
      </section>
      {fresh > 0 && (
        <button type="button" class="button primary small fresh" onClick={toEnd}>
          {say.newLines(fresh)} ↓
        </button>
      )}
      <p class="unseen" role="status">
        {spoken}
      </p>
    </section>
  )
}

import type { ReadonlySignal } from '@preact/signals'
import { ArrowDown, Copy, Download, Search } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { saidIn } from '../nouns/from-service.ts'
import type { Lines } from '../nouns/lines.ts'
import { fromService, language, words } from '../words/words.ts'
import { useKeptFocus, useSpoken } from './accessibility.ts'
import { Action, useAct } from './action.tsx'
import { copyText, saveFile } from './clipboard.ts'
import { Icon } from './icon.tsx'
import { usePlace } from './output-place.ts'
import { OutputRows } from './output-rows.tsx'
import { OutputSearch, useOutputSearch } from './output-search.tsx'
import { Problem } from './problem.tsx'
import { toast } from './toast.tsx'

interface OutputProps {
  lines: Lines
  /** Changes when `lines` grows. */
  version: ReadonlySignal<number>
  /** The subject of the output, with its status. */
  title: ComponentChildren
  /** The current step, in a few words. */
  step?: string
  /** The text for screen readers, announced at intervals; defaults to `step`. */
  said?: string
  /** 0 to 1; undefined while unknown, null for no progress bar. */
  progress?: number | undefined | null
  /** A notice about the connection or omitted output; screen readers announce it too. */
  notice?: string
  /** No more output will come. */
  ended: boolean
  /** The name of the downloaded file. */
  fileName: string
  /** Fetches the complete output when `lines` is incomplete. */
  whole?: () => Promise<Blob>
  /** Whether the beginning is missing from `lines`. */
  isPart?: boolean
  /** Additional buttons. */
  children?: ComponentChildren
}

/** An output of any length; only the visible rows are rendered. */
export function Output({
  lines: given,
  version,
  title,
  step = '',
  said = step,
  progress = null,
  notice = '',
  ended,
  fileName,
  whole = async () => new Blob([given.text()]),
  isPart = false,
  children,
}: OutputProps) {
  const say = words().output
  const log = useRef<HTMLElement>(null)
  const all = useRef<HTMLElement>(null)
  useKeptFocus(all)
  const lines = useMemo(() => saidIn(given, fromService, say.marks), [given, say])
  const spoken = useSpoken(said)
  void version.value
  const dropped = lines.dropped()
  const place = usePlace(log, lines)
  const search = useOutputSearch(lines, version, place)
  const copy = useAct(async () => {
    const copied = dropped > 0 || isPart ? say.copiedPart : say.copied
    toast((await copyText(lines.text())) ? copied : say.notCopied)
  })
  const download = useAct(async () => saveFile(fileName, await whole()))

  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key === 'f') search.open()
    // The browser's own End key would scroll to the previous end.
    else if (event.key === 'End' && event.target === log.current) place.toEnd()
    else return
    event.preventDefault()
  }

  return (
    <section class="output" aria-label={say.title} ref={all} tabIndex={-1} onKeyDown={onKeyDown}>
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
              aria-pressed={place.follows}
              title={say.followHint}
              data-key="f"
              onClick={() => (place.follows ? place.pause() : place.toEnd())}
            >
              <Icon of={ArrowDown} />
              {say.follow}
            </button>
          )}
          <button
            type="button"
            class="button small"
            title={say.search}
            aria-expanded={search.isOpen}
            onClick={search.open}
          >
            <Icon of={Search} />
            <span class="name">{say.search}</span>
          </button>
          <Action act={copy} class="small" title={say.copy}>
            <Icon of={Copy} />
            <span class="name">{say.copy}</span>
          </Action>
          <Action act={download} class="small" title={say.download}>
            <Icon of={Download} />
            <span class="name">{say.download}</span>
          </Action>
          {children}
        </div>
      </div>
      <OutputSearch search={search} />
      <Problem error={download.error.value} retry={download.run} />
      {progress !== null && (
        <progress aria-label={say.progress} max={1} {...(progress !== undefined && { value: progress })} />
      )}
      {notice && (
        <p key="notice" class="notice">
          {notice}
        </p>
      )}
      {dropped > 0 && (
        <p key="dropped" class="notice">
          {say.dropped(new Intl.NumberFormat(language()).format(dropped))}
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by key. */}
      <section key="log" class="log" ref={log} tabIndex={0} aria-label={say.log} onScroll={place.onScroll}>
        {lines.count() === 0 && <p class="dim nothing">{ended ? say.emptyEnded : say.empty}</p>}
        <OutputRows lines={lines} first={place.first} last={place.last} found={search.found} query={search.query} />
      </section>
      {place.fresh > 0 && (
        <button
          type="button"
          class="button primary small fresh"
          onClick={() => {
            place.toEnd()
            log.current?.focus({ preventScroll: true })
          }}
        >
          {say.newLines(place.fresh)} ↓
        </button>
      )}
      <p key="notice-spoken" class="unseen" role="status">
        {notice}
      </p>
      <p key="spoken" class="unseen" role="status">
        {spoken}
      </p>
    </section>
  )
}

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { LOG_LEVELS, type LogLevel, logLine, matchesLog } from '../nouns/log-line.ts'
import { Action, useAct } from '../parts/action.tsx'
import { copyText } from '../parts/clipboard.ts'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { toast } from '../parts/toast.tsx'
import { useLoad } from '../wire/load.ts'
import { api } from '../wire/panel.ts'
import { LogRow } from './logs/log-row.tsx'
import { logsWords } from './logs/words.ts'

const FOLLOW_MS = 5_000
const CHOICES = ['trace', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

/** The last log lines of the service, newest at the bottom. */
export function LogsPage() {
  const say = logsWords()
  const least = useSignal<LogLevel>('trace')
  const text = useSignal('')
  const follows = useSignal(false)
  const load = useLoad(async (signal) => (await api('GET /api/settings/logs', { signal })).lines.map(logLine), [], {
    ...(follows.value && { everyMs: FOLLOW_MS }),
  })
  const refresh = useAct(load.reload)
  const all = load.data.value ?? []
  const shown = all.filter((line) => matchesLog(line, least.value, text.value))
  const copy = async () => toast((await copyText(shown.map(({ raw }) => raw).join('\n'))) ? say.copied : say.notCopied)
  const list = useRef<HTMLElement>(null)
  // The list stays at the newest line until the user scrolls away from it.
  const staysAtEnd = useRef(true)
  useEffect(() => {
    if (list.current && staysAtEnd.current) list.current.scrollTop = list.current.scrollHeight
  }, [load.data.value, least.value, text.value])
  return (
    <>
      <Heading title={say.title} note={say.note}>
        <button type="button" class="button" onClick={() => void copy()}>
          {say.copy}
        </button>
        <Action act={refresh} class="primary">
          {say.refresh}
        </Action>
      </Heading>
      <div class="filters">
        <label>
          <span>{say.level}</span>
          <select
            value={least.value}
            onChange={({ currentTarget }) => {
              least.value = LOG_LEVELS.find((each) => each === currentTarget.value) ?? 'trace'
            }}
          >
            {CHOICES.map((level) => (
              <option key={level} value={level}>
                {level === 'trace' ? say.all : say.atLeast(say.levels[level])}
              </option>
            ))}
          </select>
        </label>
        <label class="grow">
          <span>{say.filter}</span>
          <input
            type="search"
            placeholder={say.filterBy}
            data-key="/"
            value={text.value}
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value
            }}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={follows.value}
            onChange={({ currentTarget }) => {
              follows.value = currentTarget.checked
            }}
          />
          {say.follow}
        </label>
        <span class="dim num" role="status">
          {load.data.value && say.shown(shown.length, all.length)}
        </span>
      </div>
      <Loaded of={load} rows={10}>
        {() =>
          shown.length === 0 ? (
            <p class="empty">{all.length === 0 ? say.empty : say.noMatch}</p>
          ) : (
            <section
              class="log-lines"
              aria-label={say.lines}
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by key.
              tabIndex={0}
              ref={list}
              onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
                staysAtEnd.current = scrollTop + clientHeight >= scrollHeight - 24
              }}
            >
              <ol>
                {shown.map((line, n) => (
                  <LogRow key={`${n} ${line.raw}`} line={line} only={(id) => (text.value = id)} />
                ))}
              </ol>
            </section>
          )
        }
      </Loaded>
    </>
  )
}

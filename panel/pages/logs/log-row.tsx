import { full, instant, localeOf } from '../../nouns/format.ts'
import type { LogLevel, LogLine } from '../../nouns/log-line.ts'
import { Status, type StatusKind } from '../../parts/status.tsx'
import { now } from '../../parts/time.tsx'
import { language } from '../../words/words.ts'
import { logsWords } from './words.ts'

const STATUS: Readonly<Record<LogLevel, StatusKind>> = {
  trace: 'unknown',
  debug: 'unknown',
  info: 'ok',
  warn: 'warn',
  error: 'err',
  fatal: 'err',
}

/** A log line. Its request id filters the list to the same request. */
export function LogRow({ line, only }: { line: LogLine; only(id: string): void }) {
  const say = logsWords()
  const at = instant(line.time)
  return (
    <li class={line.level}>
      <Status is={STATUS[line.level]} hidden>
        {say.levels[line.level]}
      </Status>
      {at !== undefined && (
        <time dateTime={line.time} title={full(at, language())} class="dim">
          {timeOfDay(at)}
        </time>
      )}
      <span class="message">
        {line.message} <span class="dim">{line.rest}</span>{' '}
        {line.id && (
          <button type="button" class="request" aria-label={say.requestOf(line.id)} onClick={() => only(line.id ?? '')}>
            {line.id}
          </button>
        )}
      </span>
    </li>
  )
}

/** Includes the day unless it is today. */
function timeOfDay(at: number): string {
  const isToday = new Date(at).toDateString() === new Date(now.value).toDateString()
  return new Intl.DateTimeFormat(localeOf(language()), {
    ...(!isToday && { dateStyle: 'short' }),
    timeStyle: 'medium',
  }).format(at)
}

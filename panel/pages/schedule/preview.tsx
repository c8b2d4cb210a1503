import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { fieldErrors } from '../../nouns/failure.ts'
import { timeOfDay } from '../../nouns/format.ts'
import { outOfReach, type Settings, withoutMarks } from '../../nouns/schedule-form.ts'
import { dateSaid, isOtherZone, ownZone } from '../../nouns/when.ts'
import { Problem } from '../../parts/problem.tsx'
import { scheduleWords, settingsSaid } from '../../parts/schedules/words.ts'
import { Status } from '../../parts/status.tsx'
import { targetName } from '../../parts/target-name.ts'
import { now } from '../../parts/time.tsx'
import { checks } from '../../wire/checks.ts'
import { previewTimes } from '../../wire/schedules.ts'
import { fromService, language } from '../../words/words.ts'

/** So long after the last key, the times are asked for. */
const TYPED_MS = 300

interface Previewed {
  /** RFC 3339; undefined until they are known. */
  next: readonly string[] | undefined
  /** Why the pattern or the time zone is refused. */
  wrong: unknown
}

/** The next times of a pattern, as the service computes them. */
export function usePreview(cron: string, timezone: string): Previewed {
  const state = useSignal<Previewed>({ next: undefined, wrong: undefined })
  useEffect(() => {
    const asked = new AbortController()
    const timer = setTimeout(() => {
      previewTimes(cron, timezone, asked.signal).then(
        (next) => (state.value = { next, wrong: undefined }),
        (wrong: unknown) => {
          if (!asked.signal.aborted) state.value = { next: undefined, wrong }
        },
      )
    }, TYPED_MS)
    return () => {
      clearTimeout(timer)
      asked.abort()
    }
  }, [cron, timezone])
  return state.value
}

/** Why a field of the pattern is refused, in the reader's language. */
export function previewError(wrong: unknown, field: 'cron' | 'timezone'): string | undefined {
  const message = fieldErrors(wrong)[field]
  return message === undefined ? undefined : fromService(message)
}

interface PreviewProps extends Previewed {
  settings: Settings
  children: ComponentChildren
}

/** The coming work of the schedule in some sentences, with its next times. */
export function Preview({ settings, next, wrong, children }: PreviewProps) {
  const say = scheduleWords().edition
  const late = outOfReach(settings)
  const isRefused = Object.keys(fieldErrors(wrong)).length > 0
  return (
    <aside class="card preview" aria-labelledby="schedule-preview">
      <h2 id="schedule-preview">{say.preview}</h2>
      {!isRefused && <p>{settingsSaid(settings)}</p>}
      {late !== undefined && (
        <p>
          <Status is="warn">{say.tooLate(late + 1)}</Status>
        </p>
      )}
      <Unmarked of={settings} />
      {!isRefused && <Problem error={wrong} />}
      {next && (
        <>
          <h3>{say.nextTimes}</h3>
          {isOtherZone(settings.timezone, now.peek()) && <p class="dim small">{say.inZone(ownZone())}</p>}
          <ol class="times">
            {next.map((at) => (
              <li key={at}>
                <time dateTime={at}>{timeSaid(at)}</time>
              </li>
            ))}
          </ol>
        </>
      )}
      {children}
    </aside>
  )
}

/** Targets that a sentence names. */
const NAMED = 3

/** Tells which targets never get anything from this schedule, because their package manager cannot choose security updates. */
function Unmarked({ of: settings }: { of: Settings }) {
  const say = scheduleWords()
  const names = withoutMarks(settings, checks.value ?? []).map(({ target }) => targetName(target))
  if (names.length === 0) return null
  const more = names.length > NAMED ? [say.more(names.length - NAMED)] : []
  return (
    <p class="anywhere">
      <Status is="warn">{say.edition.withoutMarks([...names.slice(0, NAMED), ...more].join(', '))}</Status>
    </p>
  )
}

/** The day and the time, in the reader's time zone. */
function timeSaid(at: string): string {
  const ms = Date.parse(at)
  return `${dateSaid(ms, now.value, language())}, ${timeOfDay(ms, language())}`
}

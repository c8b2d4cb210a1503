import { clockOf, clockSaid, cronSaid, later, MOST_DATE, weekday } from '../../nouns/cron.ts'
import { cronIn, type Draft, REPEATS, type Repeats } from '../../nouns/schedule-form.ts'
import { Choice } from '../../parts/choice.tsx'
import { minutesSaid, scheduleWords } from '../../parts/schedules/words.ts'
import { language } from '../../words/words.ts'
import { Entry, Select, ZoneEntry } from '../../parts/schedules/entry.tsx'
import { previewError } from './preview.tsx'

interface WhenProps {
  draft: Draft
  set(part: Partial<Draft>): void
  wrong: Readonly<Record<string, string>>
  /** Why the preview is refused. */
  wrongCron: unknown
}

const WINDOWS = [30, 60, 120, 180, 240, 360, 480, 720, 1_440]
/** The days from Monday to Sunday. */
const WEEK = [1, 2, 3, 4, 5, 6, 0]
const DATES = Array.from({ length: MOST_DATE }, (_, n) => n + 1)

/** When it runs: one of some rhythms, or a line of cron, in a time zone, and how long it may begin something. */
export function When({ draft, set, wrong, wrongCron }: WhenProps) {
  const say = scheduleWords().edition
  const { repeats, time, weekday: day, date, cron, window } = draft
  const choose = (next: Repeats) => set({ repeats: next, ...(next === 'cron' && { cron: cronIn(draft) || cron }) })
  const known = WINDOWS.includes(Number(window)) ? WINDOWS : [...WINDOWS, Number(window)].sort((a, b) => a - b)
  return (
    <section class="card" aria-labelledby="schedule-when">
      <h2 id="schedule-when">{say.when}</h2>
      <div class="field">
        <Choice label={say.repeats} value={repeats} of={choices(say.repeatsOf)} choose={choose} />
      </div>
      <div class="triple">
        {repeats === 'week' && (
          <Select
            name="weekday"
            label={say.weekday}
            value={`${day}`}
            of={WEEK.map((each) => [`${each}`, weekday(each, language())])}
            choose={(next) => set({ weekday: Number(next) })}
          />
        )}
        {repeats === 'month' && (
          <Select
            name="date"
            label={say.date}
            hint={say.dateHint}
            value={`${date}`}
            of={DATES.map((each) => [`${each}`, `${each}`])}
            choose={(next) => set({ date: Number(next) })}
          />
        )}
        {repeats === 'cron' ? (
          <Entry
            name="cron"
            label={say.cron}
            hint={`${say.cronHint} ${cronMeans(cron)}`}
            value={cron}
            mono
            error={wrong.cron ?? previewError(wrongCron, 'cron')}
            typed={(next) => set({ cron: next })}
          />
        ) : (
          <Entry
            name="cron"
            type="time"
            label={say.time}
            value={time}
            error={clockOf(time) ? wrong.cron : say.wrong.time}
            typed={(next) => set({ time: next })}
          />
        )}
        <ZoneEntry
          name="timezone"
          label={say.timezone}
          value={draft.timezone}
          error={wrong.timezone ?? previewError(wrongCron, 'timezone')}
          typed={(next) => set({ timezone: next })}
        />
        <Select
          name="window_minutes"
          label={say.window}
          hint={say.windowHint}
          error={wrong.window_minutes && say.wrong.window_minutes}
          value={window}
          of={known.map((minutes) => [`${minutes}`, windowSaid(minutes, draft)])}
          choose={(next) => set({ window: next })}
        />
      </div>
    </section>
  )
}

/** The words of the choices, in their order. */
function choices(words: Readonly<Record<Repeats, string>>): Readonly<Record<Repeats, string>> {
  const [day, week, month, cron] = REPEATS
  return { [day]: words.day, [week]: words.week, [month]: words.month, [cron]: words.cron }
}

/** A window with the time at which it closes, where the form knows when it opens. */
function windowSaid(minutes: number, { repeats, time }: Draft): string {
  const opens = repeats === 'cron' ? undefined : clockOf(time)
  return opens ? `${minutesSaid(minutes)} (${clockSaid(later(opens, minutes))})` : minutesSaid(minutes)
}

/** The line in words; empty for one that has none. */
function cronMeans(cron: string): string {
  const said = cronSaid(cron.trim(), scheduleWords().rhythm, language())
  return said === cron.trim() ? '' : `${said.charAt(0).toUpperCase()}${said.slice(1)}.`
}

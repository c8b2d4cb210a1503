import { duration, timeOfDay } from '../../nouns/format.ts'
import { type Night as Course, nightOf, shareOf, type Span, type Upgrades } from '../../nouns/night.ts'
import { type Fate, FATE_STATUS, type Run } from '../../nouns/schedule.ts'
import { dateSaid } from '../../nouns/when.ts'
import { scheduleWords, waveSaid, waveTargetName } from '../../parts/schedules/words.ts'
import { Status } from '../../parts/status.tsx'
import { now } from '../../parts/time.tsx'
import { language, words } from '../../words/words.ts'

/** The widths of a drawing, which the page stretches. */
const WIDE = 1_000
const LEAST = 6

/** The course of a run: a bar for each wave and each of its upgrades on one axis, each with its times in words. */
export function Night({ of: run, upgrades }: { of: Run; upgrades: Upgrades }) {
  const say = scheduleWords()
  const night = nightOf(run, upgrades, now.value)
  if (!night) return null
  const { night: words } = say.run
  const closes = Date.parse(run.closes_at)
  const line = closes > night.from && closes < night.to ? closes : undefined
  return (
    <section class="night" aria-labelledby="night">
      <h2 id="night">{words.title}</h2>
      <p class="dim small">
        {words.axis(dateSaid(night.from, now.value, language()), time(night.from), time(night.to))}
        {line !== undefined && ` · ${words.closes(time(line))}`}
      </p>
      <ol>
        {night.waves.map(({ n, span, jobs }) => (
          <li key={n}>
            <Row
              name={say.wave(n + 1)}
              title={waveSaid(run.waves[n]?.targets ?? [])}
              of={span}
              night={night}
              line={line}
            />
            {jobs.length > 0 && (
              <ol>
                {jobs.map(({ target, fate, span }) => {
                  const name = waveTargetName(target)
                  return (
                    <li key={target}>
                      <Row
                        name={name}
                        title={name}
                        of={span}
                        night={night}
                        line={line}
                        status={{ is: FATE_STATUS[fate], word: say.fates[fate] }}
                      />
                    </li>
                  )
                })}
              </ol>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

interface RowProps {
  name: string
  title: string
  /** Undefined for an upgrade that has not had its turn. */
  of: Span | undefined
  night: Course
  /** The end of the window, where it falls into the night. */
  line: number | undefined
  /** The end of an upgrade. */
  status?: { is: (typeof FATE_STATUS)[Fate]; word: string }
}

function Row({ name, title, of: span, night, line, status }: RowProps) {
  const say = scheduleWords().run
  return (
    <div class="course">
      <span class="what">
        {status && (
          <Status is={status.is} hidden>
            {status.word}
          </Status>
        )}
        <span class="cut" title={title}>
          {name}
        </span>
      </span>
      <Bar of={span} night={night} line={line} kind={status?.is ?? 'wave'} />
      <span class="dim small nowrap">
        {span ? (
          <>
            {say.night.span(time(span.from), span.to === undefined ? undefined : time(span.to))}
            {' · '}
            {duration(((span.to ?? night.to) - span.from) / 1_000, words().shell.units)}
          </>
        ) : (
          say.queued
        )}
      </span>
    </div>
  )
}

function Bar({ of: span, night, line, kind }: Pick<RowProps, 'of' | 'night' | 'line'> & { kind: string }) {
  const at = span && shareOf(span, night)
  const width = at ? Math.max(LEAST, at.length * WIDE) : 0
  return (
    <svg class="bar" viewBox={`0 0 ${WIDE} 8`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width={WIDE} height="8" />
      {at && <rect class={kind} x={Math.min(WIDE - LEAST, at.start * WIDE)} width={width} height="8" />}
      {line !== undefined && (
        <rect class="line" x={shareOf({ from: line, to: line }, night).start * WIDE} width="2" height="8" />
      )}
    </svg>
  )
}

function time(at: number): string {
  return timeOfDay(at, language())
}

import { useEffect } from 'preact/hooks'
import { CalendarClock, Plus } from 'lucide'
import { needsSomebody, nextOf, type Schedule, standingOf, worstFirst } from '../nouns/schedule.ts'
import { Action, useAct } from '../parts/action.tsx'
import { confirm } from '../parts/dialog.tsx'
import { Heading } from '../parts/heading.tsx'
import { Icon } from '../parts/icon.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import '../parts/schedules/style.ts'
import { scheduleWords, whenOf } from '../parts/schedules/words.ts'
import { useSteady } from '../parts/steady.ts'
import { schedulesPaused } from '../wire/checks.ts'
import { useLoad } from '../wire/load.ts'
import { isAdmin } from '../wire/panel.ts'
import { pauseSchedules, readSchedules } from '../wire/schedules.ts'
import { Legend } from './schedules/legend.tsx'
import { ScheduleCard } from './schedules/schedule-card.tsx'

const EVERY_MS = 10_000
/** A running schedule shows its waves. */
const RUNNING_EVERY_MS = 3_000

/** All schedules: those that need somebody first, each with its next time, its last runs, and the one action that helps. */
export function SchedulesPage() {
  const say = scheduleWords()
  const load = useLoad(readSchedules, [schedulesPaused.value?.at])
  const known = load.data.value?.schedules
  const runs = known?.some((each) => standingOf(each) === 'running') ?? false
  useEffect(() => {
    const timer = setInterval(
      () => {
        if (!document.hidden && !load.busy.peek()) void load.reload()
      },
      runs ? RUNNING_EVERY_MS : EVERY_MS,
    )
    return () => clearInterval(timer)
  }, [runs])
  const pauseAll = useAct(async () => {
    const { pausing } = scheduleWords()
    if (await confirm({ ...pausing, danger: true })) await pauseSchedules(true)
  })
  const hasAny = known !== undefined && known.length > 0
  return (
    <div class="answer-page">
      <Heading title={titleOf(known)} note={known && noteOf(known)}>
        {isAdmin.value && hasAny && !schedulesPaused.value && <Action act={pauseAll}>{say.pauseAll}</Action>}
        {isAdmin.value && hasAny && (
          <a class="button primary" href="/schedules/new">
            <Icon of={Plus} />
            {say.create}
          </a>
        )}
      </Heading>
      <Problem error={pauseAll.error.value} />
      <Loaded of={load} rows={6}>
        {({ schedules }) => (schedules.length === 0 ? <Empty /> : <List of={schedules} changed={load.reload} />)}
      </Loaded>
    </div>
  )
}

function titleOf(known: readonly Schedule[] | undefined): string {
  const say = scheduleWords()
  if (known === undefined) return say.list
  if (known.length === 0) return say.none
  const next = schedulesPaused.value ? undefined : nextOf(known)
  return say.title(known.length, next && whenOf(next.at))
}

/** The sentence below the heading: what needs somebody, else what is next. */
function noteOf(known: readonly Schedule[]): string | undefined {
  const say = scheduleWords()
  const needs = known.filter(needsSomebody).length
  const next = nextOf(known)
  const parts = [
    ...(needs > 0 ? [say.need(needs)] : []),
    ...(schedulesPaused.value ? [say.allPaused] : next ? [say.next(next.schedule.name)] : []),
  ]
  return parts.length > 0 ? parts.join(' · ') : undefined
}

/** The cards in an order that stays while somebody works among them. */
function List({ of, changed }: { of: readonly Schedule[]; changed(): Promise<void> }) {
  const say = scheduleWords()
  const sorted = worstFirst(of)
  const { rows, hold } = useSteady([{ group: 'all', targets: sorted.map(({ id }) => id) }], '')
  const byId = new Map(of.map((each) => [each.id, each]))
  return (
    <>
      <ul class="schedule-cards" aria-label={say.list} {...hold}>
        {rows.flatMap(({ targets }) =>
          targets.flatMap((id) => {
            const schedule = byId.get(id)
            return schedule ? [<ScheduleCard key={id} of={schedule} changed={changed} />] : []
          }),
        )}
      </ul>
      <Legend />
    </>
  )
}

/** The way to the first schedule. */
function Empty() {
  const say = scheduleWords()
  return (
    <div class="empty first-schedule">
      <Icon of={CalendarClock} />
      <p>
        <b>{say.empty}</b>
      </p>
      <p>{say.emptyText}</p>
      <ol class="stations" aria-hidden="true">
        <li class="done" />
        <li class="now" />
        <li class="ahead" />
      </ol>
      {isAdmin.value ? (
        <p>
          <a class="button primary" href="/schedules/new">
            {say.first}
          </a>
        </p>
      ) : (
        <p>{say.emptyAdmin}</p>
      )}
    </div>
  )
}

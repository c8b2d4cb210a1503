import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { CalendarClock, Plus } from 'lucide'
import { type Schedule, standingOf } from '../nouns/schedule.ts'
import { type Act, Action, useAct } from '../parts/action.tsx'
import { confirm } from '../parts/dialog.tsx'
import { Heading } from '../parts/heading.tsx'
import { Icon } from '../parts/icon.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import { useMore } from '../parts/schedules/more.ts'
import '../parts/schedules/style.ts'
import { scheduleWords, whenOf } from '../parts/schedules/words.ts'
import { useSteady } from '../parts/steady.ts'
import { schedulesPaused } from '../wire/checks.ts'
import { useLoad } from '../wire/load.ts'
import { isAdmin } from '../wire/panel.ts'
import { pauseSchedules, readSchedules, SCHEDULES_AT_ONCE, type Schedules } from '../wire/schedules.ts'
import { Legend, ZoneNote } from './schedules/legend.tsx'
import { ScheduleCard } from './schedules/schedule-card.tsx'

const EVERY_MS = 10_000
/** A running schedule shows its waves. */
const RUNNING_EVERY_MS = 3_000

/** The schedules: those that need somebody first, each with its next time, its last runs, and the one action that helps. */
export function SchedulesPage() {
  const say = scheduleWords()
  const limit = useSignal(SCHEDULES_AT_ONCE)
  const search = useSignal('')
  const wanted = search.value.trim()
  const load = useLoad((signal) => readSchedules(limit.peek(), wanted, signal), [schedulesPaused.value?.at, wanted])
  const known = load.data.value
  const runs = known?.schedules.some((each) => standingOf(each) === 'running') ?? false
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
  const more = useAct(async () => {
    const before = limit.value
    limit.value += SCHEDULES_AT_ONCE
    await load.reload()
    if (load.error.peek() === undefined) return
    limit.value = before
    throw load.error.peek()
  })
  const hasAny = known !== undefined && known.total > 0
  return (
    <div class="answer-page">
      <Heading title={titleOf(known)} note={known && noteOf(known)}>
        {known && (known.total > SCHEDULES_AT_ONCE || search.value !== '') && (
          <input
            type="search"
            class="filter"
            aria-label={say.search}
            placeholder={say.search}
            data-key="/"
            maxLength={100}
            value={search.value}
            onInput={({ currentTarget }) => {
              search.value = currentTarget.value
            }}
          />
        )}
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
        {(all) => (all.total === 0 ? <Empty /> : <List of={all} wanted={wanted} more={more} changed={load.reload} />)}
      </Loaded>
    </div>
  )
}

function titleOf(known: Schedules | undefined): string {
  const say = scheduleWords()
  if (known === undefined) return say.list
  if (known.total === 0) return say.none
  const next = schedulesPaused.value ? null : known.soonest
  return say.title(known.total, next ? whenOf(next.at) : undefined)
}

/** The sentence below the heading: what needs somebody, else what is next. */
function noteOf({ need, soonest }: Schedules): string | undefined {
  const say = scheduleWords()
  const parts = [
    ...(need > 0 ? [say.need(need)] : []),
    ...(schedulesPaused.value ? [say.allPaused] : soonest ? [say.next(soonest.name)] : []),
  ]
  return parts.length > 0 ? parts.join(' · ') : undefined
}

interface ListProps {
  of: Schedules
  /** The text that is searched for. */
  wanted: string
  /** Shows more of them. */
  more: Act<[]>
  changed(): Promise<void>
}

/** The cards in an order that stays while somebody works among them. */
function List({ of: { schedules, total, next }, wanted, more, changed }: ListProps) {
  const say = scheduleWords()
  const { rows, hold } = useSteady([{ group: 'all', targets: schedules.map(({ id }) => id) }], wanted)
  const byId = new Map<string, Schedule>(schedules.map((each) => [each.id, each]))
  const count = schedules.length
  const { more: showMore, list } = useMore<HTMLUListElement>(more, count)
  if (count === 0) return <p class="empty">{say.noMatch}</p>
  return (
    <>
      <ul class="schedule-cards" aria-label={say.list} ref={list} {...hold}>
        {rows.flatMap(({ targets }) =>
          targets.flatMap((id) => {
            const schedule = byId.get(id)
            return schedule ? [<ScheduleCard key={id} of={schedule} changed={changed} />] : []
          }),
        )}
      </ul>
      {next !== null && (
        <p class="below">
          <Action act={showMore}>{say.showMore}</Action>
          {wanted === '' && <span class="dim small">{say.shown(count, total)}</span>}
        </p>
      )}
      <Legend />
      <ZoneNote />
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

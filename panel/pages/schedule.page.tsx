import type { Schedule } from '../nouns/schedule.ts'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import '../parts/schedules/style.ts'
import { scheduleWords, settingsSaid, waveSaid, whenOf } from '../parts/schedules/words.ts'
import { route } from '../router.ts'
import { useLoad } from '../wire/load.ts'
import { isAdmin } from '../wire/panel.ts'
import { readSchedule } from '../wire/schedules.ts'
import { words } from '../words/words.ts'
import { ScheduleForm } from './schedule/form.tsx'
import { History } from './schedule/history.tsx'
import { ZoneNote } from './schedules/legend.tsx'

/** A schedule: its form for administrators, what it does for everybody else. */
export function SchedulePage() {
  const id = route.value?.params.schedule ?? ''
  if (id === 'new' && isAdmin.value) return <ScheduleForm stored={undefined} />
  return <StoredSchedule id={id} />
}

function StoredSchedule({ id }: { id: string }) {
  const load = useLoad((signal) => readSchedule(id, signal), [id])
  const known = load.data.value
  return (
    <>
      {!(known && isAdmin.value) && (
        <Heading title={known?.name ?? words().schedule.title}>
          <a class="button" href="/schedules">
            {scheduleWords().run.toAll}
          </a>
        </Heading>
      )}
      <Loaded of={load} rows={10}>
        {(schedule) => (
          <>
            {isAdmin.value ? <ScheduleForm key={schedule.id} stored={schedule} /> : <Told of={schedule} />}
            <History of={schedule.id} name={schedule.name} />
            <ZoneNote />
          </>
        )}
      </Loaded>
    </>
  )
}

/** A schedule for users who may not change it. */
function Told({ of: schedule }: { of: Schedule }) {
  const say = scheduleWords()
  const { waves, next, created_by: owner } = schedule
  return (
    <section class="told-schedule" aria-label={schedule.name}>
      <p>{settingsSaid(schedule)}</p>
      <ol class="stations" aria-label={say.waves}>
        {waves.map(({ targets }, n) => (
          <li key={n} class="ahead">
            <span class="cut" title={waveSaid(targets)}>
              {waveSaid(targets)}
            </span>
          </li>
        ))}
      </ol>
      <p>
        <span class="dim">{next.length > 0 ? say.nextTimes : say.notPlanned}</span>{' '}
        {next.map((at) => whenOf(at)).join(', ')}
      </p>
      <p class="dim">
        {say.edition.owner(owner)} {say.edition.forAdmins}
      </p>
    </section>
  )
}

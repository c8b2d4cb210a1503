import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { clock, duration } from '../nouns/format.ts'
import type { Upgrades } from '../nouns/night.ts'
import { isPartial, type Run, runStatus, stationsOf } from '../nouns/schedule.ts'
import { Action, useAct } from '../parts/action.tsx'
import { confirm } from '../parts/dialog.tsx'
import { Heading } from '../parts/heading.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Problem } from '../parts/problem.tsx'
import '../parts/schedules/style.ts'
import { scheduleWords, tallySaid, whenOf } from '../parts/schedules/words.ts'
import { Status } from '../parts/status.tsx'
import { now } from '../parts/time.tsx'
import { route } from '../router.ts'
import { useLoad } from '../wire/load.ts'
import { isAdmin } from '../wire/panel.ts'
import { cancelScheduleRun, readScheduleRun } from '../wire/schedules.ts'
import { fromService, language, words } from '../words/words.ts'
import { ZoneNote } from './schedules/legend.tsx'
import { Night } from './schedules/night.tsx'
import { useUpgrades } from './schedules/upgrades.ts'
import { Waves } from './schedules/waves.tsx'

const EVERY_MS = 2_000
const NONE: Upgrades = new Map()

/** The page of a run with each of its waves, live while it runs. */
export function ScheduleRunPage() {
  const say = scheduleWords().run
  const id = route.value?.params.run ?? ''
  const isOver = useSignal(false)
  const load = useLoad((signal) => readScheduleRun(id, signal), [id], isOver.value ? {} : { everyMs: EVERY_MS })
  const run = load.data.value
  const known = useUpgrades(run)
  const upgrades = known.data.value ?? NONE
  useEffect(() => {
    isOver.value = run !== undefined && run.state !== 'running'
  }, [run?.state])
  const cancel = useAct(async () => {
    if (!(await confirm({ ...say.cancelling, keep: say.keep, danger: true }))) return
    await cancelScheduleRun(id)
    await load.reload()
  })
  const mayCancel = isAdmin.value && run?.state === 'running' && run.cancelled_by === null
  return (
    <div class="answer-page">
      <Heading
        title={run ? say.title(run.schedule_name, scheduleWords().states[run.state]) : words().scheduleRun.title}
        note={run && noteOf(run)}
      >
        {mayCancel && <Action act={cancel}>{say.cancel}</Action>}
        {run && (
          <a class="button" href={`/schedules/${run.schedule_id}`}>
            {say.toSchedule}
          </a>
        )}
        <a class="button" href="/schedules">
          {say.toAll}
        </a>
      </Heading>
      <Problem error={cancel.error.value} />
      <Loaded of={load} rows={6}>
        {(run) => (
          <>
            <Result of={run} />
            <Problem error={load.error.value === undefined ? known.error.value : undefined} retry={known.reload} />
            {run.state !== 'missed' && <Waves of={run} upgrades={upgrades} />}
            <Night of={run} upgrades={upgrades} />
            <ZoneNote />
          </>
        )}
      </Loaded>
    </div>
  )
}

function noteOf(run: Run): string {
  const say = scheduleWords().run
  const { units } = words().shell
  const began = run.started_at ?? run.due_at
  const took = run.finished_at === null ? undefined : (Date.parse(run.finished_at) - Date.parse(began)) / 1000
  return [
    run.started_by === null ? say.of(whenOf(run.due_at)) : say.byHand(run.started_by, whenOf(run.due_at)),
    ...(took === undefined || run.state === 'missed' ? [] : [say.took(duration(took, units))]),
    ...(run.state === 'running' ? [say.closes(clock(Date.parse(run.closes_at), now.peek(), language()))] : []),
    ...(run.cancelled_by === null || run.state === 'running' ? [] : [say.cancelledBy(run.cancelled_by)]),
  ].join(' · ')
}

/** How it ended, why, and what each target came to. */
function Result({ of: run }: { of: Run }) {
  const say = scheduleWords()
  const tally = tallySaid(run.waves)
  const why = whySaid(run)
  const { ping_error: pingError } = run
  if (!why && tally === '' && pingError === null) return null
  return (
    <section class="run-result" aria-label={say.states[run.state]}>
      <Status is={runStatus(run)} hidden>
        {say.states[run.state]}
      </Status>
      <div class="grow">
        {tally !== '' && (
          <p>
            <b>{tally}</b>
          </p>
        )}
        {why && <p class={tally === '' ? undefined : 'dim'}>{why}</p>}
        {pingError !== null && <p class="warn-text anywhere">{say.run.pingFailed(fromService(pingError))}</p>}
      </div>
    </section>
  )
}

function whySaid(run: Run): string | undefined {
  const { state, reason, missed, waves, cancelled_by: cancelledBy } = run
  const { run: say, reasons } = scheduleWords()
  if (isPartial(run)) return say.whyPartial
  const because = Object.entries(reasons).find(([code]) => code === reason)?.[1] ?? reason ?? ''
  if (state === 'running') return cancelledBy === null ? undefined : say.cancelAsked(cancelledBy)
  if (state === 'missed') return [say.whyMissed(because), ...(missed > 1 ? [say.missed(missed)] : [])].join(' ')
  if (state === 'stopped') return say.whyStopped(because, stationsOf({ state, waves }).includes('off'))
  if (state === 'window_closed') return say.whyClosed
  return state === 'cancelled' ? say.whyCancelled : undefined
}

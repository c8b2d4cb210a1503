import { type Schedule, STANDING_STATUS, type Standing, standingOf, stationsOf } from '../../nouns/schedule.ts'
import { type Act, Action, useAct } from '../../parts/action.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Problem } from '../../parts/problem.tsx'
import { withProof } from '../../parts/schedules/proof.ts'
import { minutesSaid, scheduleWords, settingsSaid, tallySaid, waveSaid, whenOf } from '../../parts/schedules/words.ts'
import { Status } from '../../parts/status.tsx'
import { toast } from '../../parts/toast.tsx'
import { go } from '../../router.ts'
import { schedulesPaused } from '../../wire/checks.ts'
import { isAdmin } from '../../wire/panel.ts'
import { changeSchedule, removeSchedule, runSchedule } from '../../wire/schedules.ts'
import { fromService } from '../../words/words.ts'
import { Strip } from './strip.tsx'

interface ScheduleCardProps {
  of: Schedule
  /** Called after a change. */
  changed(): Promise<void>
}

/** A schedule: how it stands, what it does, its waves, its last runs and its next times. */
export function ScheduleCard({ of, changed }: ScheduleCardProps) {
  const say = scheduleWords()
  const { id, name, enabled, recent, last_run: last, paused_reason: reason } = of
  const standing = standingOf(of)
  const deeds = useDeeds(of, changed)
  const next = enabled && !schedulesPaused.value ? of.next : []
  return (
    <li class={enabled ? 'schedule' : 'schedule off'}>
      <div class="top">
        <h2>
          <a href={`/schedules/${id}`} class="cut-two" title={name}>
            {name}
          </a>
          <Status is={STANDING_STATUS[standing]}>{say.standings[standing]}</Status>
        </h2>
        <div class="does">
          <p class="dim">{settingsSaid(of)}</p>
          {reason !== null && <p class="warn-text">{say.pausedBecause(fromService(reason))}</p>}
          {last && last.ping_error !== null && (
            <p class="warn-text anywhere">{say.run.pingFailed(fromService(last.ping_error))}</p>
          )}
        </div>
        <div class="deeds">
          <Deed of={of} standing={standing} deeds={deeds} />
          {isAdmin.value && <More of={of} deeds={deeds} />}
        </div>
      </div>
      <Problem error={deeds.run.error.value ?? deeds.toggle.error.value ?? deeds.remove.error.value} />
      <WaveLine of={of} />
      <div class="foot">
        <Strip id={id} name={name} runs={recent} last={last ? tallySaid(last.waves) : ''} />
        <p class="next small">
          <span class="dim">{next.length > 0 ? say.nextTimes : say.notPlanned}</span>
          {next.map((at, n) => (
            <time key={at} dateTime={at} class={n === 0 ? undefined : 'dim'}>
              {whenOf(at)}
            </time>
          ))}
        </p>
      </div>
    </li>
  )
}

interface Deeds {
  run: Act<[]>
  toggle: Act<[]>
  remove: Act<[]>
}

function useDeeds(
  { id, name, action, enabled, window_minutes: window, ...rest }: Schedule,
  changed: () => Promise<void>,
): Deeds {
  const say = scheduleWords()
  const run = useAct(async () => {
    const { title, text, verb } = say.starting
    const does = settingsSaid({ ...rest, action, window_minutes: window })
    const told = (
      <>
        <p>{does}</p>
        <p>{text(minutesSaid(window))}</p>
      </>
    )
    // A check changes nothing.
    if (action === 'upgrade' && !(await confirm({ title: title(name), text: told, verb }))) return
    go(`/schedules/runs/${await runSchedule(id)}`)
  })
  const toggle = useAct(async () => {
    if (await withProof((proof) => changeSchedule(id, { enabled: !enabled, ...proof }))) await changed()
  })
  const remove = useAct(async () => {
    const { title, text, verb } = say.removing
    if (!(await confirm({ title: title(name), text, verb, danger: true }))) return
    await removeSchedule(id)
    toast(say.removed(name))
    document.querySelector<HTMLElement>('h1')?.focus()
    await changed()
  })
  return { run, toggle, remove }
}

/** The one action that helps now. */
function Deed({ of, standing, deeds }: { of: Schedule; standing: Standing; deeds: Deeds }) {
  const say = scheduleWords()
  const newest = of.recent.at(-1)
  const label = (verb: string) => say.ofName(verb, of.name)
  if (newest && /^(broken|trouble|running)$/.test(standing)) {
    const verb = standing === 'running' ? say.follow : say.see
    return (
      <a class="button small" href={`/schedules/runs/${newest.id}`} aria-label={label(verb)}>
        {verb}
      </a>
    )
  }
  if (!isAdmin.value) return null
  if (standing === 'paused' || standing === 'barred')
    return (
      <Action act={deeds.toggle} class="small" label={label(say.resume)}>
        {say.resume}
      </Action>
    )
  return (
    <Action
      act={deeds.run}
      class="small"
      label={label(say.runNow)}
      blocked={schedulesPaused.value ? say.allPaused : undefined}
    >
      {say.runNow}
    </Action>
  )
}

/** Everything else, with what stops or deletes at the end. */
function More({ of: { id, name, enabled }, deeds }: { of: Schedule; deeds: Deeds }) {
  const say = scheduleWords()
  return (
    <Menu label={say.actions(name)}>
      <button
        type="button"
        aria-disabled={schedulesPaused.value !== null}
        onClick={() => !schedulesPaused.peek() && void deeds.run.run()}
      >
        {say.runNow}
      </button>
      <a href={`/schedules/${id}`}>{say.edit}</a>
      <button type="button" onClick={() => void deeds.toggle.run()}>
        {enabled ? say.pause : say.resume}
      </button>
      <button type="button" onClick={() => void deeds.remove.run()}>
        {say.remove}
      </button>
    </Menu>
  )
}

/** The waves as stations, with where the last run came to if it has not gone through. */
function WaveLine({ of: { waves, last_run: last } }: { of: Schedule }) {
  const say = scheduleWords()
  if (waves.length < 2) return null
  const isTold =
    last !== null && /^(running|stopped|window_closed)$/.test(last.state) && last.waves.length === waves.length
  const states = isTold ? stationsOf(last) : []
  return (
    <ol class="stations" aria-label={say.waves}>
      {waves.map(({ targets }, n) => {
        const state = states[n]
        const said = waveSaid(targets)
        return (
          <li key={n} class={state ?? 'ahead'}>
            <span class="cut" title={said}>
              {said}
            </span>
            {state && <span class="unseen">{` (${say.run.stations[state]})`}</span>}
          </li>
        )
      })}
    </ol>
  )
}

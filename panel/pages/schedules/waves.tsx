import { Check, OctagonX } from 'lucide'
import { clock } from '../../nouns/format.ts'
import {
  fateOf,
  FATE_STATUS,
  pausedUntil,
  type Run,
  type RunWave,
  type Station,
  stationsOf,
} from '../../nouns/schedule.ts'
import type { Upgrades } from '../../nouns/night.ts'
import { Icon } from '../../parts/icon.tsx'
import { happenedSaid } from './happened.ts'
import { minutesSaid, scheduleWords, waveSaid, waveTargetName } from '../../parts/schedules/words.ts'
import { Status } from '../../parts/status.tsx'
import { now } from '../../parts/time.tsx'
import { language } from '../../words/words.ts'

/** The waves of a run from above to below, each with its targets, then the restart of the host. */
export function Waves({ of: run, upgrades }: { of: Run; upgrades: Upgrades }) {
  const say = scheduleWords()
  const stations = stationsOf(run)
  const until = pausedUntil(run)
  const next = run.waves.findIndex(({ state }) => state === 'waiting')
  return (
    <ol class="run-waves" aria-label={say.waves}>
      {run.waves.map((wave, n) => (
        <Wave
          key={n}
          of={wave}
          n={n}
          station={stations[n] ?? 'ahead'}
          isFollowed={n < run.waves.length - 1 && stations[n + 1] !== 'off'}
          until={n === next - 1 ? until : undefined}
          isCheck={run.action === 'check'}
          upgrades={upgrades}
        />
      ))}
      {run.reboot && <Reboot of={run.reboot} />}
    </ol>
  )
}

interface WaveProps {
  of: RunWave
  n: number
  station: Station
  /** Whether another wave has begun after it, or may still begin. */
  isFollowed: boolean
  /** The end of the pause after this wave, in ms since 1970. */
  until: number | undefined
  isCheck: boolean
  upgrades: Upgrades
}

function Wave({ of: wave, n, station, isFollowed, until, isCheck, upgrades }: WaveProps) {
  const say = scheduleWords()
  const { run: words } = say
  const { targets, jobs, run_id: runId, pause_minutes: pause, state } = wave
  const isPaused = until !== undefined && until > now.value
  return (
    <li class={station} aria-current={station === 'now' ? 'step' : undefined}>
      <span class="stop">
        {station === 'done' ? <Icon of={Check} /> : station === 'fail' ? <Icon of={OctagonX} /> : n + 1}
      </span>
      <div class="grow">
        <h2>
          <span>{say.wave(n + 1)}</span>
          <span class="dim cut" title={waveSaid(targets)}>
            {waveSaid(targets)}
          </span>
          <span class="unseen">{` (${words.stations[station]})`}</span>
          {runId !== null && jobs.length > 1 && (
            <a class="button plain small" href={`/runs/${runId}`}>
              {words.together}
            </a>
          )}
        </h2>
        {jobs.length === 0 ? (
          <p class="dim small">
            {state === 'planning'
              ? words.planning
              : station === 'ahead'
                ? words.ahead
                : station === 'off'
                  ? words.notReached
                  : words.noTargets}
          </p>
        ) : (
          <Targets of={wave} n={n} isCheck={isCheck} upgrades={upgrades} />
        )}
        {isFollowed && pause > 0 && (
          <p class="dim small pause">
            {isPaused ? words.pauseUntil(clock(until, now.value, language())) : words.pauseOf(minutesSaid(pause))}
          </p>
        )}
      </div>
    </li>
  )
}

interface TargetsProps extends Pick<WaveProps, 'of' | 'n' | 'isCheck' | 'upgrades'> {}

/** The targets of a wave, each with what became of it and the way to its job. */
function Targets({ of: { jobs, state }, n, isCheck, upgrades }: TargetsProps) {
  const say = scheduleWords()
  return (
    <ul class="list wave-targets" aria-label={say.wave(n + 1)}>
      {jobs.map((job) => {
        const { target, job_id: id } = job
        const fate = fateOf(job)
        const name = waveTargetName(target)
        const upgrade = id === null ? undefined : upgrades.get(id)
        const happened = happenedSaid(job, upgrade)
        const isPlanned = fate === 'waiting' && id === null
        return (
          <li key={target}>
            <span class="grow">
              {id === null ? (
                <span class="cut" title={name}>
                  {name}
                </span>
              ) : (
                <a
                  class="cut"
                  href={`/updates/${id}`}
                  title={name}
                  aria-label={say.ofName(isCheck ? say.run.check : say.run.job, name)}
                >
                  {name}
                </a>
              )}
              {happened !== '' && <span class="dim small reason">{happened}</span>}
            </span>
            <Status
              is={isPlanned ? 'unknown' : fate === 'upgraded' && upgrade?.warnings.length ? 'warn' : FATE_STATUS[fate]}
            >
              {!isPlanned ? say.fates[fate] : state === 'planning' ? say.run.planning : say.run.queued}
            </Status>
          </li>
        )
      })}
    </ul>
  )
}

function Reboot({ of: { check_id: check, job_id: job, outcome } }: { of: NonNullable<Run['reboot']> }) {
  const { run: say } = scheduleWords()
  const isFailed = outcome !== null && !/^(rebooted|not_required|not_started|skipped)$/.test(outcome)
  const station: Station = outcome === null ? 'now' : isFailed ? 'fail' : 'done'
  return (
    <li class={station}>
      <span class="stop">{station !== 'now' && <Icon of={isFailed ? OctagonX : Check} />}</span>
      <div class="grow">
        <h2>
          <span>{say.reboot}</span>
          <span class="dim">{say.rebootOutcome(outcome)}</span>
        </h2>
        <p class="links">
          {check !== null && <a href={`/updates/${check}`}>{say.rebootCheck}</a>}
          {job !== null && <a href={`/updates/${job}`}>{say.rebootJob}</a>}
        </p>
      </div>
    </li>
  )
}

import { ArrowUp, Camera, Check, HeartPulse, Undo2 } from 'lucide'
import type { ComponentChildren } from 'preact'
import { clock, duration } from '../../nouns/format.ts'
import { endingOf } from '../../nouns/ending.ts'
import { type Station, type StationState, stationsOf } from '../../nouns/stations.ts'
import type { FollowedJob, JobRecord } from '../../wire/job.ts'
import { protectionWords } from './words.ts'
import { language, words } from '../../words/words.ts'
import { Icon } from '../icon.tsx'
import { stepOf } from '../job-output.tsx'
import { Status } from '../status.tsx'
import { now, useSeconds } from '../time.tsx'

const ICONS = { snapshot: Camera, backup: Camera, upgrade: ArrowUp, health: HeartPulse, end: Check } as const

/** The stations of a protected upgrade with their durations: what is done, what runs, what is to come. */
export function Stepper({ job, record }: { job: FollowedJob; record: JobRecord }) {
  const say = protectionWords().steps
  const stations = stationsOf(record, job.phases.value)
  return (
    <ol class="steps" aria-label={say.label}>
      {stations.map((station) => {
        const { name, state } = station
        const isEnd = name === 'end'
        return (
          <li key={name} class={state} aria-current={state === 'now' ? 'step' : undefined}>
            <Stop name={name} state={state} />
            <b>{isEnd ? endWord(record) : say[name]}</b>
            <span class="unseen">{` (${say.states[state]})`}</span>
            <small>{isEnd ? endNote(record) : noteOf(station, job, record)}</small>
          </li>
        )
      })}
    </ol>
  )
}

function Stop({ name, state }: Pick<Station, 'name' | 'state'>) {
  if (state === 'fail')
    return (
      <span class="stop">
        <Status is="err" hidden />
      </span>
    )
  const icon = state === 'done' ? Check : state === 'ask' || state === 'back' ? Undo2 : ICONS[name]
  return <span class="stop">{state !== 'now' && <Icon of={icon} />}</span>
}

function endWord(record: JobRecord): string {
  const { end } = protectionWords().steps
  const ending = endingOf(record)
  if (ending === 'broken') return end.ask
  if (ending) return end[ending]
  const isStopped = record.status !== 'running' && record.outcome !== 'upgraded' && record.outcome !== 'nothing_to_do'
  return isStopped ? end.off : end.done
}

/** The note below the word of the last station. */
function endNote(record: JobRecord): string {
  const protection = protectionWords()
  const { shell } = words()
  const say = protection.steps
  const { snapshot, outage_seconds: outage, finished_at: ended, status } = record
  const ending = endingOf(record)
  if (ending === 'broken') return ended ? say.waits(duration((now.value - Date.parse(ended)) / 1000, shell.units)) : ''
  if (ending === 'back') return outage === null ? '' : say.outage(duration(outage, shell.units))
  if (ending === 'stuck' || status === 'running') return ''
  return snapshot?.present ? say.ownSnapshot : ''
}

function noteOf({ name, state, from, to }: Station, job: FollowedJob, record: JobRecord): ComponentChildren {
  const protection = protectionWords()
  const say = protection.steps
  const took = from !== undefined && to !== undefined ? lengthOf(to - from) : ''
  if (name === 'snapshot' || name === 'backup') {
    if (state === 'none') return say.none
    if (state === 'now') return phaseWord(job, 'protecting')
    const at = record.snapshot && clock(Date.parse(record.snapshot.made_at), now.value, language())
    return [record.status === 'running' ? '' : at, took].filter(Boolean).join(', ')
  }
  if (name === 'upgrade') {
    const phase = job.phases.value.at(-1)?.phase
    return state !== 'now'
      ? took
      : phase === 'measuring'
        ? protection.phases.measuring
        : stepOf(job.reading.value.progress, words())
  }
  if (state === 'ahead') return say.seconds(record.protection?.settle_seconds ?? 0)
  if (state === 'now') {
    const isSettling = from !== undefined && job.phases.value.at(-1)?.phase === 'settling'
    return isSettling ? <Settled since={from} of={record.protection?.settle_seconds ?? 0} /> : phaseWord(job, '')
  }
  return countsOf(record, state)
}

/** The pause before the comparison, second by second: “12 s / 60 s”. */
function Settled({ since, of }: { since: number; of: number }) {
  const protection = protectionWords()
  const { shell } = words()
  const seconds = Math.min(of, Math.max(0, (useSeconds() - since) / 1000))
  return (
    <>
      {duration(seconds, shell.units)} / {protection.steps.seconds(of)}
    </>
  )
}

/** The word of the current phase, unless it is the one that the station is named after. */
function phaseWord(job: FollowedJob, own: string): string {
  const phase = job.phases.value.at(-1)?.phase
  const found = Object.entries(protectionWords().phases).find(([name]) => name === phase)
  return phase === own || !found ? '' : found[1]
}

function countsOf({ comparison, regressions }: JobRecord, state: StationState): string {
  const say = protectionWords().steps
  if (state === 'off') return ''
  const same = comparison?.filter((row) => row.state === 'same').length ?? 0
  return regressions.length > 0 ? say.counts(regressions.length, same) : comparison ? say.allSame(same) : ''
}

/** “3.8 s” below ten seconds. */
function lengthOf(ms: number): string {
  const { units } = words().shell
  if (ms >= 10_000) return duration(ms / 1000, units)
  const count = new Intl.NumberFormat(language(), { maximumFractionDigits: 1 }).format(Math.max(0, ms) / 1000)
  return `${count}\u00a0${units.seconds}`
}

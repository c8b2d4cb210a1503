import type { Answer } from '../../client/index.ts'
import { type Ending, endingOf } from './ending.ts'
import { instant } from './format.ts'

type JobRecord = Answer<'GET /api/updates/jobs/{id}'>
export type Phase = NonNullable<JobRecord['phase']>

/** A phase with its beginning. */
export interface Begun {
  phase: string
  /** RFC 3339; empty when it is unknown. */
  at: string
}

/** The order of the phases. A phase that the service adds must get its place here: the type of the API has all of them. */
const ORDER: Readonly<Record<Phase, number>> = {
  waiting: 0,
  refreshing: 1,
  protecting: 2,
  measuring: 3,
  upgrading: 4,
  settling: 5,
  comparing: 6,
  rolling_back: 7,
  pruning: 8,
  done: 9,
}

/** `none`: left out. `ahead`: not reached yet. `off`: not reached any more. */
export type StationState = 'done' | 'now' | 'fail' | 'ask' | 'back' | 'none' | 'ahead' | 'off'

/** A station of a protected upgrade. */
export interface Station {
  name: 'snapshot' | 'backup' | 'upgrade' | 'health' | 'end'
  state: StationState
  /** Its beginning and end, in ms since 1970, as far as they are known. */
  from?: number | undefined
  to?: number | undefined
}

type Told = Pick<
  JobRecord,
  'status' | 'outcome' | 'decided' | 'protection' | 'snapshot' | 'unprotected' | 'error_code' | 'exit_code'
>

const STATIONS = [
  ['waiting', 'refreshing', 'protecting'],
  ['measuring', 'upgrading'],
  ['settling', 'comparing'],
  ['rolling_back', 'pruning', 'done'],
] as const satisfies readonly (readonly Phase[])[]

/** Adds a phase that has just begun, unless a later one is known: answers of the service may come in another order. */
export function withPhase(phases: readonly Begun[], phase: string, at: string): readonly Begun[] {
  const last = phases.at(-1)
  return last && rankOf(last.phase) >= rankOf(phase) ? phases : [...phases, { phase, at }]
}

const RANKS = new Map<string, number>(Object.entries(ORDER))

/** The place of a phase in the order; −1 for one that is unknown. */
function rankOf(phase: string): number {
  return RANKS.get(phase) ?? -1
}

/** The stations of a protected upgrade, with the times of their phases. */
export function stationsOf(record: Told, phases: readonly Begun[]): Station[] {
  const reached = stationAt(record, phases)
  const begin = (phase: Phase) => instant(phases.find((each) => each.phase === phase)?.at)
  const firstOf = (...some: Phase[]) => instant(phases.find(({ phase }) => some.some((each) => each === phase))?.at)
  const times = [
    { from: begin('protecting'), to: firstOf('measuring', 'upgrading') },
    { from: begin('upgrading'), to: firstOf('settling', 'comparing', 'rolling_back', 'pruning', 'done') },
    { from: begin('settling'), to: firstOf('rolling_back', 'pruning', 'done') },
    { from: firstOf('rolling_back', 'pruning', 'done'), to: begin('done') },
  ]
  const states = statesOf(record, reached)
  const isBackup = record.snapshot ? record.snapshot.kind === 'backup' : record.protection?.before === 'backup'
  const names = [isBackup ? 'backup' : 'snapshot', 'upgrade', 'health', 'end'] as const
  return names.map((name, n) => ({ name, state: states[n] ?? 'ahead', ...times[n] }))
}

/** The number of the station that the job has reached. */
function stationAt({ status, outcome }: Told, phases: readonly Begun[]): number {
  // The last phases say that it is over, not how far it came.
  const isOver = status !== 'running' && outcome !== 'upgraded'
  const known = phases.filter(({ phase }) => !isOver || rankOf(phase) < rankOf('rolling_back'))
  const last = known.at(-1)?.phase
  const at = last === undefined ? 0 : STATIONS.findIndex((some) => some.some((phase) => phase === last))
  return Math.max(0, at)
}

function statesOf(record: Told, reached: number): StationState[] {
  const { status, outcome } = record
  // The upgrade went on without a snapshot.
  const first: StationState = record.snapshot === null && record.unprotected !== null ? 'none' : 'done'
  if (status === 'running') {
    const at = (n: number): StationState => (n < reached ? 'done' : n === reached ? 'now' : 'ahead')
    return [reached > 0 ? first : 'now', at(1), at(2), at(3)]
  }
  if (outcome === 'upgraded' || outcome === 'nothing_to_do') return [first, 'done', 'done', 'done']
  // The health is compared after an upgrade that failed, too.
  const hasFailed = reached > 1 && record.exit_code !== null && record.exit_code !== 0
  const ending = endingOf(record)
  if (ending) return [first, hasFailed ? 'fail' : 'done', 'fail', END_STATE[ending]]
  if (hasFailed && outcome === 'failed') return [first, 'fail', 'done', 'off']
  // The station where it stopped, and none after it.
  const stop = record.error_code === 'protection_unavailable' ? 0 : reached
  const stopped: StationState = outcome === 'cancelled' ? 'off' : 'fail'
  return [0, 1, 2, 3].map((n) => (n === stop ? stopped : n > stop ? 'off' : n === 0 ? first : 'done'))
}

const END_STATE: Readonly<Record<Ending, StationState>> = { broken: 'ask', kept: 'done', back: 'back', stuck: 'fail' }

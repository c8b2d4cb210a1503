import { expect, test } from 'vitest'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { type Begun, stationsOf, withPhase } from '../../../panel/nouns/stations.ts'

const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 12, 0, second)).toISOString()
const PHASES: readonly Begun[] = [
  { phase: 'protecting', at: at(1) },
  { phase: 'measuring', at: at(4) },
  { phase: 'upgrading', at: at(5) },
  { phase: 'settling', at: at(20) },
  { phase: 'comparing', at: at(50) },
  { phase: 'pruning', at: at(55) },
  { phase: 'done', at: at(56) },
]
const upTo = (phase: string) => PHASES.slice(0, PHASES.findIndex((each) => each.phase === phase) + 1)
type Told = Parameters<typeof stationsOf>[0]

function record(rest: Partial<Told> = {}): Told {
  return {
    status: 'success',
    outcome: 'upgraded',
    decided: null,
    protection: DEFAULT_PROTECTION,
    snapshot: { name: 'panel-1', made_at: at(3), kind: 'snapshot', present: true },
    unprotected: null,
    error_code: null,
    exit_code: 0,
    ...rest,
  }
}
const running = (rest: Partial<Told> = {}) => record({ status: 'running', outcome: null, snapshot: null, ...rest })
const states = (told: Told, phases = PHASES) => stationsOf(told, phases).map(({ state }) => state)

test.each([
  ['waiting', ['now', 'ahead', 'ahead', 'ahead']],
  ['protecting', ['now', 'ahead', 'ahead', 'ahead']],
  ['measuring', ['done', 'now', 'ahead', 'ahead']],
  ['upgrading', ['done', 'now', 'ahead', 'ahead']],
  ['comparing', ['done', 'done', 'now', 'ahead']],
  ['pruning', ['done', 'done', 'done', 'now']],
])('while it is %s', (phase, expected) => {
  expect(states(running(), upTo(phase))).toEqual(expected)
})

test.each([
  ['a good end', record(), ['done', 'done', 'done', 'done']],
  ['nothing to do', record({ outcome: 'nothing_to_do' }), ['done', 'done', 'done', 'done']],
  ['a regression', record({ outcome: 'regressed' }), ['done', 'done', 'fail', 'ask']],
  ['a rollback', record({ outcome: 'rolled_back' }), ['done', 'done', 'fail', 'back']],
  ['a failed rollback', record({ outcome: 'rollback_failed' }), ['done', 'done', 'fail', 'fail']],
  [
    'a kept regression',
    record({ outcome: 'regressed', decided: { by: 'a', at: at(0), choice: 'keep', job_id: null } }),
    ['done', 'done', 'fail', 'done'],
  ],
  [
    'an upgrade that failed, and broke nothing',
    record({ outcome: 'failed', status: 'error', exit_code: 77 }),
    ['done', 'fail', 'done', 'off'],
  ],
  [
    'an upgrade that failed and broke something',
    record({ outcome: 'regressed', exit_code: 100 }),
    ['done', 'fail', 'fail', 'ask'],
  ],
  [
    'a comparison that cannot be had',
    record({ outcome: 'failed', status: 'error', error_code: 'ssh_failed', exit_code: null }),
    ['done', 'done', 'fail', 'off'],
  ],
  [
    'an upgrade without the snapshot that it might have had',
    record({ snapshot: null, unprotected: 'x' }),
    ['none', 'done', 'done', 'done'],
  ],
  [
    'a refused protection',
    record({ outcome: 'failed', status: 'error', error_code: 'protection_unavailable', snapshot: null }),
    ['fail', 'off', 'off', 'off'],
  ],
])('%s', (_, told, expected) => {
  expect(states(told)).toEqual(expected)
})

test('a job that stopped in the middle stops at its station, also after it tidied up', () => {
  const phases = [...upTo('upgrading'), { phase: 'done', at: at(9) }]
  expect(states(record({ outcome: 'failed', status: 'error' }), phases)).toEqual(['done', 'fail', 'off', 'off'])
  expect(states(record({ outcome: 'cancelled', status: 'error' }), phases)).toEqual(['done', 'off', 'off', 'off'])
})

test('each station has its own duration, and a backup its own name', () => {
  const lengths = stationsOf(record(), PHASES).map(({ from = 0, to = 0 }) => (to - from) / 1000)
  expect(lengths).toEqual([3, 15, 35, 1])
  expect(stationsOf(running({ protection: { ...DEFAULT_PROTECTION, before: 'backup' } }), [])[0]?.name).toBe('backup')
})

test('phases are added in their order alone, each once', () => {
  const one = withPhase([], 'upgrading', at(1))
  expect(withPhase(one, 'upgrading', at(2))).toBe(one)
  expect(withPhase(one, 'protecting', at(2))).toBe(one)
  expect(withPhase(one, 'settling', '')).toEqual([...one, { phase: 'settling', at: '' }])
})

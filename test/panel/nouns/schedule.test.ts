import { expect, test } from 'vitest'
import { run as en } from '../../../panel/words/en/schedule-run.ts'
import { run as fr } from '../../../panel/words/fr/schedule-run.ts'
import {
  fateOf,
  FATE_STATUS,
  pausedUntil,
  type RunState,
  runStatus,
  standingOf,
  stationsOf,
  tallyOf,
} from '../../../panel/nouns/schedule.ts'
import {
  changesIn,
  draftOf,
  freeTargets,
  moved,
  newDraft,
  outOfReach,
  settingsIn,
  withoutTarget,
  withTarget,
  withWave,
} from '../../../panel/nouns/schedule-form.ts'
import { everyStanding, recentOf, runningRun, runOf, scheduleOf, targetOf, waveOf } from '../flows/schedule-states.ts'

test.each([
  ['done', 'well'],
  ['stopped', 'broken'],
  ['missed', 'trouble'],
  ['window_closed', 'trouble'],
  ['cancelled', 'cancelled'],
  ['running', 'running'],
] as const satisfies readonly (readonly [RunState, string])[])(
  'a schedule whose newest run is %s is %s',
  (state, standing) => {
    expect(standingOf(scheduleOf({ recent: recentOf(state) }))).toBe(standing)
  },
)

test('a run that has left targets out is not shown as well, nor is its schedule', () => {
  const wave = waveOf(['lxc:101', 'lxc:121'], [targetOf('lxc:101', 'upgraded'), targetOf('lxc:121', 'left_out')])
  const run = runOf({ state: 'done', reason: 'left_out', waves: [wave] })
  const recent = [...recentOf('done').slice(0, -1), { id: run.id, due_at: run.due_at, state: 'done' as const }]

  expect(runStatus(run)).toBe('warn')
  expect(standingOf(scheduleOf({ recent, last_run: run }))).toBe('partial')
  expect(standingOf(scheduleOf({ recent, last_run: { ...run, reason: null } }))).toBe('well')
  expect(FATE_STATUS[fateOf({ outcome: 'left_out' })]).toBe('warn')
  expect(tallyOf([wave])).toEqual([
    { fate: 'leftOut', count: 1 },
    { fate: 'upgraded', count: 1 },
  ])
  expect(stationsOf(run)).toEqual(['done'])
})

test('a schedule that the service has paused is worse than one that a person has paused', () => {
  const paused = scheduleOf({ enabled: false, recent: recentOf('stopped') })
  expect([standingOf(paused), standingOf({ ...paused, paused_reason: 'x' })]).toEqual(['paused', 'barred'])
  // A run that has begun before goes on.
  expect(standingOf({ ...paused, recent: recentOf('running') })).toBe('running')
})

test('the stations of a run say where it is, and where it stopped', () => {
  expect(stationsOf(runningRun())).toEqual(['done', 'now', 'ahead'])
  expect(stationsOf(runOf())).toEqual(['fail', 'off', 'off'])
  expect(
    stationsOf(runOf({ state: 'window_closed', waves: runOf().waves.map((wave) => ({ ...wave, jobs: [] })) })),
  ).toEqual(['done', 'off', 'off'])
})

test('the waves after the one that broke were not reached, also when the service has closed them', () => {
  const closed = (target: string) => waveOf([target], [targetOf(target, 'not_started')], { run_id: null })
  const first = (outcome: string) => waveOf(['lxc:101'], [targetOf('lxc:101', outcome)])
  const rest = [closed('lxc:102'), closed('rest')]
  expect(stationsOf({ state: 'stopped', waves: [first('regressed'), ...rest] })).toEqual(['fail', 'off', 'off'])
  expect(stationsOf({ state: 'cancelled', waves: [first('upgraded'), ...rest] })).toEqual(['done', 'off', 'off'])
})

test.each(['failed', 'plan_changed', 'impossible', 'cancelled', 'check_failed'])(
  'a wave that made the run stop with %s is not shown as done',
  (outcome) => {
    const wave = waveOf(['lxc:101', 'lxc:116'], [targetOf('lxc:101', 'upgraded'), targetOf('lxc:116', outcome)])
    const good = waveOf(['lxc:102'], [targetOf('lxc:102', 'upgraded')])
    expect(stationsOf({ state: 'stopped', waves: [wave] })).toEqual(['fail'])
    // A run that goes on after a failure has done its waves.
    expect(stationsOf({ state: 'done', waves: [wave, good] })).toEqual(['done', 'done'])
  },
)

test('the reason of a stop tells of later waves only where there are some', () => {
  expect([fr.whyStopped('x', true), en.whyStopped('x', true)]).toEqual([
    'Arrêtée\u00a0: x. Les vagues suivantes n’ont pas commencé.',
    'Stopped: x. The later waves have not begun.',
  ])
  expect([fr.whyStopped('x', false), en.whyStopped('x', false)]).toEqual(['Arrêtée\u00a0: x.', 'Stopped: x.'])
})

test('the pause after a wave ends at a time while the next one waits', () => {
  const ended = waveOf(['lxc:101'], [targetOf('lxc:101', 'upgraded')], { finished_at: '2026-03-01T02:00:00.000Z' })
  const waiting = waveOf('rest', [], { state: 'waiting', finished_at: null })
  expect(pausedUntil({ state: 'running', waves: [ended, waiting] })).toBe(Date.parse('2026-03-01T02:30:00.000Z'))
  expect(pausedUntil({ state: 'stopped', waves: [ended, waiting] })).toBeUndefined()
  expect(pausedUntil({ state: 'running', waves: [waiting, waiting] })).toBeUndefined()
})

test('the ends of the targets are counted, the worst first, also one that this panel does not know', () => {
  const jobs = ['upgraded', 'regressed', 'upgraded', 'something_new', null].map((outcome, n) =>
    targetOf(`lxc:${101 + n}`, outcome),
  )
  expect(tallyOf([{ jobs }])).toEqual([
    { fate: 'broken', count: 1 },
    { fate: 'upgraded', count: 2 },
    { fate: 'unknown', count: 1 },
    { fate: 'waiting', count: 1 },
  ])
})

test('a schedule that nobody has changed has no changes in its form, whatever its pattern', () => {
  for (const schedule of everyStanding()) expect(changesIn(draftOf(schedule), schedule)).toEqual({})
})

test('a pattern that a preset writes in another way is no change', () => {
  const stored = scheduleOf({ cron: '00 05 * * sun' })
  expect(changesIn(draftOf(stored), stored)).toEqual({})
  expect(changesIn({ ...draftOf(stored), time: '06:00' }, stored)).toEqual({ cron: '0 6 * * 0' })
})

test('numbers that nobody can mean are refused by the service, not made another number here', () => {
  const draft = { ...newDraft('UTC'), window: '1e3', time: 'x' }
  expect(settingsIn({ ...draft, waves: [{ key: 0, targets: 'rest', pause: '-5' }] })).toMatchObject({
    window_minutes: -1,
    cron: '',
    waves: [{ pause_minutes: -1 }],
  })
})

test('a restart of the host is sent only where a wave of an upgrade names the host', () => {
  const draft = { ...draftOf(scheduleOf()), reboot: 'if_required' as const }
  expect(settingsIn(draft).reboot).toBe('if_required')
  expect(settingsIn({ ...draft, action: 'check' }).reboot).toBe('never')
  expect(settingsIn({ ...draft, waves: draft.waves.slice(0, 2) }).reboot).toBe('never')
})

test('waves are added with a pause before them, moved, filled and emptied; a target stands in one alone', () => {
  const [first] = newDraft('UTC').waves
  const two = withWave(first ? [first] : [])
  expect(two.map(({ targets, pause }) => [targets, pause])).toEqual([
    ['rest', '15'],
    [[], '0'],
  ])
  const filled = withTarget(withTarget(two, 1, 'host'), 1, 'host')
  expect(moved(filled, 1, 0).map(({ targets }) => targets)).toEqual([['host'], 'rest'])
  expect(freeTargets(filled, ['rest', 'host', 'lxc:101'])).toEqual(['lxc:101'])
  expect(withoutTarget(withoutTarget(filled, 0, 'rest'), 1, 'host').map(({ targets }) => targets)).toEqual([[], []])
})

test.each([
  ['one wave, whose pause is of no use', 30, [600], undefined],
  ['pauses within the window', 120, [60, 59, 15], undefined],
  ['a pause as long as the window', 60, [60, 0], 1],
  ['pauses that are too long together', 120, [60, 60, 0], 2],
])('the first wave that never begins is known: %s', (_, window_minutes, pauses, wave) => {
  const waves = pauses.map((pause_minutes) => ({ targets: 'rest' as const, pause_minutes }))
  expect(outOfReach({ window_minutes, waves })).toBe(wave)
})

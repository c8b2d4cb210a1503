import { expect, test } from 'vitest'
import { type CheckSituation, type DueCheck, dueTargets, spreadOf } from '../../../functions/checks/due.ts'

const NOW = new Date('2026-03-01T12:00:00.000Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const ago = (ms: number) => new Date(NOW.getTime() - ms).toISOString()

function check(target: string, given: Partial<DueCheck> = {}): DueCheck {
  return { target, state: 'up_to_date', checked_at: ago(HOUR), changed_at: null, findings: [], ...given }
}

const FRESH = check('host')
const UNKNOWN = { state: 'unknown', checked_at: null } as const

/** A situation in which nothing is due, but for what is given. `attempts` is minutes ago by target. */
function due({
  attempts = {},
  ...given
}: Partial<Omit<CheckSituation, 'attempts'>> & { attempts?: Record<string, number> }) {
  return dueTargets({
    checks: [FRESH],
    running: [],
    silence: undefined,
    parallel: 6,
    now: NOW,
    ...given,
    attempts: new Map(Object.entries(attempts).map(([target, minutes]) => [target, ago(minutes * MINUTE)])),
  })
}

const job = (kind: string, target: string, automatic = false) => ({ kind, target, automatic })

test('where nothing was ever checked, one check of all is due, and again half an hour after one without a result', () => {
  const checks = [check('host', UNKNOWN), check('lxc:101', UNKNOWN)]

  expect(due({ checks })).toEqual(['all'])
  expect(due({ checks: [check('host', UNKNOWN), check('lxc:101')] })).toEqual(['all'])
  expect(due({ checks, attempts: { all: 29 } })).toEqual([])
  expect(due({ checks, attempts: { host: 29, all: 300 } })).toEqual([])
  expect(due({ checks, attempts: { all: 30 } })).toEqual(['all'])
  expect(due({ checks, running: [job('container', 'lxc:101')] })).toEqual([])
})

test('a host that gives no result does not have every container checked with it', () => {
  const checks = [check('host', UNKNOWN), check('lxc:101')]

  expect(due({ checks, attempts: { host: 29 } })).toEqual([])
  expect(due({ checks, attempts: { host: 30 } })).toEqual(['host'])
})

test('a check is repeated six hours after it, and up to half an hour later by the name of its target', () => {
  const spread = spreadOf('lxc:101')
  const at = (ms: number) => due({ checks: [FRESH, check('lxc:101', { checked_at: ago(ms) })] })

  expect(at(6 * HOUR + spread - 1)).toEqual([])
  expect(at(6 * HOUR + spread)).toEqual(['lxc:101'])
  const all = Array.from({ length: 200 }, (_, n) => spreadOf(`lxc:${100 + n}`))
  for (const each of all) expect(each).toBeLessThan(30 * MINUTE)
  const minutes = Array.from({ length: 30 }, (_, n) => all.filter((each) => Math.floor(each / MINUTE) === n).length)
  expect(Math.max(...minutes)).toBeLessThan(20)
})

test.each<[string, Partial<DueCheck>, Record<string, number>, boolean]>([
  ['is new', UNKNOWN, {}, true],
  ['is new and the last check of it brought nothing', UNKNOWN, { 'lxc:101': 29 }, false],
  ['is new and the last check of it brought nothing half an hour ago', UNKNOWN, { 'lxc:101': 30 }, true],
  ['was dated by a fast clock', UNKNOWN, { 'lxc:101': -300 }, true],
  ['has changed', { state: 'unknown', changed_at: ago(MINUTE) }, { 'lxc:101': 60 }, true],
  ['has changed before a check without a result', { state: 'unknown', changed_at: ago(2 * MINUTE) }, { all: 1 }, false],
  ['has changed by a fast clock', { state: 'unknown', changed_at: ago(-60 * MINUTE) }, { 'lxc:101': 1 }, false],
  ['gave no answer a while ago', { state: 'unknown' }, { 'lxc:101': 30 }, true],
  ['gave no answer just now', { state: 'unknown' }, { 'lxc:101': 10 }, false],
  ['is stopped', { state: 'stopped', checked_at: null }, {}, false],
  ['is stopped since long', { state: 'stopped', checked_at: ago(90 * HOUR) }, {}, false],
  ['was started', { state: 'stopped', changed_at: ago(MINUTE) }, { all: 10 }, true],
  ['was started in vain', { state: 'stopped', changed_at: ago(10 * MINUTE) }, { 'lxc:101': 1 }, false],
  ['had a busy package manager', { findings: [{ code: 'manager_locked' }], checked_at: ago(9 * MINUTE) }, {}, false],
  ['had one 10 minutes ago', { findings: [{ code: 'manager_locked' }], checked_at: ago(10 * MINUTE) }, {}, true],
  ['has other findings', { state: 'attention', findings: [{ code: 'lists_stale' }] }, {}, false],
  ['was checked long ago, and a check was cancelled', { checked_at: ago(9 * HOUR) }, { 'lxc:101': 5 }, false],
  ['was checked long ago, and one was cancelled before', { checked_at: ago(9 * HOUR) }, { 'lxc:101': 31 }, true],
])('a container that %s: whether a check is due', (_, given, attempts, expected) => {
  expect(due({ checks: [FRESH, check('lxc:101', given)], attempts })).toEqual(expected ? ['lxc:101'] : [])
})

test.each([
  [job('upgrade', 'lxc:101'), ['host', 'lxc:102']],
  [job('remedy', 'lxc:101'), ['host', 'lxc:102']],
  [job('container', 'lxc:101'), ['host', 'lxc:102']],
  [job('check', 'lxc:101'), ['host', 'lxc:102']],
  [job('upgrade', 'host'), ['lxc:101', 'lxc:102']],
  [job('upgrade', 'all'), ['host']],
  [job('check', 'all'), []],
  [job('reboot', 'host'), []],
])('while $kind of $target runs or waits, nothing that it concerns is checked', (running, expected) => {
  const old = { checked_at: ago(9 * HOUR) }
  const checks = [check('host', old), check('lxc:101', old), check('lxc:102', old)]

  expect(due({ checks, running: [running] })).toEqual(expected)
})

test('few start at once: changed ones first, then new ones, then the oldest, up to the number of the setting', () => {
  const checks = [
    FRESH,
    check('lxc:101', { checked_at: ago(8 * HOUR) }),
    check('lxc:102', { checked_at: ago(9 * HOUR) }),
    check('lxc:103', UNKNOWN),
    check('lxc:104', { state: 'unknown', changed_at: ago(MINUTE) }),
  ]
  const own = [job('check', 'lxc:105', true), job('check', 'lxc:106', true)]

  expect(due({ checks })).toEqual(['lxc:104', 'lxc:103', 'lxc:102'])
  expect(due({ checks, parallel: 2 })).toEqual(['lxc:104', 'lxc:103'])
  expect(due({ checks, parallel: 3, running: own })).toEqual(['lxc:104'])
  expect(due({ checks, parallel: 2, running: own })).toEqual([])
  expect(due({ checks, parallel: 2, running: [job('check', 'lxc:105'), job('check', 'lxc:106')] })).toHaveLength(2)
})

test('while the host cannot be reached, only it is tried, after half an hour and then less and less often', () => {
  const checks = [FRESH, check('lxc:101', { state: 'unknown', changed_at: ago(MINUTE) })]
  const after = (since: number, last: number) =>
    due({ checks, silence: { since: ago(since * MINUTE), last: ago(last * MINUTE) } })

  expect(after(29, 29)).toEqual([])
  expect(after(30, 30)).toEqual(['host'])
  expect(after(120, 59)).toEqual([])
  expect(after(120, 60)).toEqual(['host'])
  expect(after(9_999, 359)).toEqual([])
  expect(after(9_999, 360)).toEqual(['host'])
  const unseen = [check('host', UNKNOWN)]
  expect(due({ checks: unseen, silence: { since: ago(HOUR), last: ago(HOUR) } })).toEqual(['all'])
})

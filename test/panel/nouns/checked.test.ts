import { expect, test } from 'vitest'
import {
  canBeRepaired,
  canBeUpgraded,
  isBroken,
  isDue,
  isUnanswered,
  isUncertain,
  oldestOf,
  shownOf,
  updatesIn,
} from '../../../panel/nouns/checked.ts'
import { outcomeOf } from '../../../panel/nouns/outcome.ts'
import { AT, check } from './checks.ts'

const FAILED = { job_id: 'j', outcome: 'failed', exit_code: 100, finished_at: AT } as const
const NOW = Date.parse(AT)
const HOUR = 3_600_000

test.each([
  ['in order', check('host'), 'ok', 'upToDate'],
  ['that is in order with a full disk', check('host', { used: 0.9 }), 'warn', 'attention'],
  ['with packages and an exploited vulnerability', check('host', { waits: 1, exploited: 1 }), 'warn', 'attention'],
  ['with packages', check('host', { waits: 3 }), 'ready', 'ready'],
  ['never looked at', check('host', { state: 'unknown', checked_at: null }), 'unknown', 'unknown'],
  ['upgraded since', check('host', { state: 'unknown', changed_at: AT }), 'unknown', 'unknown'],
  ['whose lists are old', check('host', { findings: ['lists_stale'] }), 'stale', 'stale'],
  ['whose repository is away', check('host', { findings: ['repository_unreachable'] }), 'warn', 'attention'],
  ['with a warning and old lists', check('host', { findings: ['lists_stale', 'disk_low'] }), 'warn', 'attention'],
  ['whose last upgrade failed', check('host', { state: 'attention', last_upgrade: FAILED }), 'err', 'failed'],
  [
    'whose upgrade failed and that was not looked at since',
    check('host', { state: 'unknown', changed_at: AT, last_upgrade: FAILED }),
    'err',
    'failed',
  ],
  ['that a later check has found in order', check('host', { last_upgrade: FAILED }), 'ok', 'upToDate'],
  ['that is blocked', check('host', { state: 'blocked', last_upgrade: FAILED }), 'err', 'blocked'],
  ['that is stopped', check('lxc:103', { state: 'stopped' }), 'off', 'stopped'],
  ['without a manager that is known', check('lxc:103', { state: 'unsupported' }), 'barred', 'unsupported'],
  [
    'without one, which an upgrade of all has tried in vain,',
    check('lxc:103', { state: 'unsupported', last_upgrade: FAILED }),
    'barred',
    'unsupported',
  ],
] as const)('the status shows a target %s', (_, target, kind, word) => {
  expect(shownOf(target)).toEqual({ kind, word })
})

test('only an upgrade behind a removal counts among the packages that are kept back', () => {
  const counts = { upgrade: 3, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 2 }
  const removal = { ...check('host', { findings: ['kept_back_remove'] }), counts }

  expect(updatesIn({ ...check('host'), counts })).toBe(3)
  expect(updatesIn(removal)).toBe(5)
  expect(updatesIn({ ...removal, findings: removal.findings.map((one) => ({ ...one, packages: ['a'] })) })).toBe(4)
})

test('a target that did not answer is marked so beside a worse state', () => {
  const failed = { state: 'unknown', last_upgrade: FAILED } as const

  expect(isUnanswered(check('lxc:101', failed))).toBe(true)
  expect(isUnanswered(check('lxc:101', { ...failed, changed_at: AT }))).toBe(false)
  expect(isUnanswered(check('lxc:101', { ...failed, state: 'attention' }))).toBe(false)
  expect(isUnanswered(check('lxc:101', { state: 'unknown', checked_at: null }))).toBe(false)
})

test('failed and blocked targets count as broken, unfinished ones are repaired', () => {
  expect(isBroken(check('lxc:101'))).toBe(false)
  expect(isBroken(check('lxc:101', { last_upgrade: FAILED }))).toBe(true)
  expect(isBroken(check('lxc:101', { findings: ['dpkg_interrupted'] }))).toBe(false)
  expect(isBroken(check('lxc:101', { state: 'blocked' }))).toBe(true)
  expect(isBroken(check('lxc:101', { state: 'unsupported', last_upgrade: FAILED }))).toBe(false)
})

test('unchecked, changed and old targets are due for a check', () => {
  expect(isDue(check('host'), NOW + HOUR)).toBe(false)
  expect(isDue(check('host'), NOW + 7 * HOUR)).toBe(true)
  expect(isDue(check('host', { checked_at: null }), NOW)).toBe(true)
  expect(isDue(check('host', { changed_at: AT }), NOW)).toBe(true)
  expect(isDue(check('host', { changed_at: AT, checking: true }), NOW)).toBe(false)
  expect(isDue(check('lxc:103', { state: 'stopped', checked_at: null }), NOW)).toBe(false)
  // It has met an upgrade that changed nothing in the end.
  const ended = (finished_at: string) => ({ ...FAILED, outcome: 'plan_changed' as const, finished_at })
  const locked = { findings: ['manager_locked'] as const }
  expect(isDue(check('host', { ...locked, last_upgrade: ended('2026-03-01T12:00:02.000Z') }), NOW)).toBe(true)
  expect(isDue(check('host', { ...locked, last_upgrade: ended('2026-03-01T11:59:58.000Z') }), NOW)).toBe(false)
  expect(isDue(check('host', locked), NOW)).toBe(false)
  expect(isDue(check('host', { last_upgrade: ended('2026-03-01T12:00:02.000Z') }), NOW)).toBe(false)
})

test('the age of several results is that of the oldest', () => {
  const later = check('lxc:101', { checked_at: '2026-03-01T13:00:00.000Z', lists_at: null })
  expect(oldestOf([check('host'), later])).toEqual({ checked: NOW, lists: NOW })
  const stopped = check('lxc:103', { state: 'stopped', checked_at: null, lists_at: null })
  expect(oldestOf([check('host'), stopped])).toEqual({ checked: NOW, lists: NOW })
  expect(oldestOf([])).toEqual({ checked: undefined, lists: undefined })
})

test.each([
  ['unknown', true],
  ['attention', true],
  ['blocked', true],
  ['ready', false],
  ['up_to_date', false],
  ['stopped', false],
  ['unsupported', false],
] as const)('the updates of a target that is %s are uncertain: %s', (state, expected) => {
  expect(isUncertain(check('host', { state }))).toBe(expected)
})

test.each([
  ['stopped', false],
  ['unsupported', false],
  ['blocked', false],
  ['unknown', true],
  ['attention', true],
  ['up_to_date', true],
] as const)('a target that is %s can be upgraded: %s', (state, expected) => {
  expect(canBeUpgraded({ state })).toBe(expected)
})

test('a stopped target cannot be repaired', () => {
  expect(canBeRepaired(check('lxc:101', { findings: ['dpkg_interrupted'] }))).toBe(true)
  expect(canBeRepaired(check('lxc:101', { findings: ['dpkg_interrupted'], state: 'stopped' }))).toBe(false)
})

test('a non-zero exit code is a failure; skipped containers with code 0 are a flaw', () => {
  expect(outcomeOf({ status: 'success', exitCode: 100 })).toBe('failed')
  expect(outcomeOf({ status: 'success', exitCode: 0, errors: 1 })).toBe('flawed')
  expect(outcomeOf({ status: 'success', exitCode: 0 })).toBe('done')
  // A check that not every target has answered.
  expect(outcomeOf({ status: 'success', exitCode: 0, unchecked: 1 })).toBe('flawed')
})

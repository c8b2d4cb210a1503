import { expect, test } from 'vitest'
import type { Finding } from '../../../panel/nouns/checked.ts'
import { actionOf, arrange, countIn, type Filter, isFound, passes, totalsOf } from '../../../panel/nouns/target-list.ts'
import { AT, check } from './checks.ts'

const FAILED = { job_id: 'j', outcome: 'failed', exit_code: 100, finished_at: AT } as const
const ADMIN = { isRunning: false, isAdmin: true, mayOperate: true }

/** A target whose lists are old for a reason with a remedy, or that is blocked. */
function withRemedy(
  code: Finding['code'],
  action: NonNullable<Finding['remedy']>['action'],
  severity: 'warning' | 'blocking' = 'warning',
) {
  const { findings, ...rest } = check('lxc:101', { waits: 2, findings: [code, 'lists_stale'] })
  const [first, stale] = findings
  if (!first || !stale) throw new Error('no finding')
  const state = severity === 'blocking' ? ('blocked' as const) : ('attention' as const)
  return { ...rest, state, findings: [{ ...first, severity, remedy: { action, label: action } }, stale] }
}

test('targets that need somebody come first, the worst on top, and stopped ones last', () => {
  const ready = { ...check('lxc:104', { waits: 1 }), exploited: 1 }
  const checks = [
    check('host'),
    check('lxc:101', { findings: ['lists_stale'] }),
    check('lxc:102', { state: 'blocked' }),
    check('lxc:103', { waits: 9 }),
    ready,
    check('lxc:105', { waits: 2 }),
    check('lxc:106', { state: 'stopped' }),
    check('lxc:107', { state: 'unknown', checked_at: null }),
  ]

  expect(arrange(checks, 'urgency', new Set(['lxc:105']))).toEqual([
    { group: 'need', targets: ['lxc:102', 'lxc:104', 'lxc:101'] },
    { group: 'run', targets: ['lxc:105'] },
    { group: 'unknown', targets: ['lxc:107'] },
    { group: 'ready', targets: ['lxc:103'] },
    { group: 'idle', targets: ['host'] },
    { group: 'stopped', targets: ['lxc:106'] },
  ])
})

test('every other order has no groups', () => {
  const checks = [
    { ...check('lxc:102', { waits: 1, lists_at: null }), name: 'a' },
    { ...check('host', { waits: 5 }), name: 'c' },
    { ...check('lxc:101', { lists_at: '2026-02-01T12:00:00.000Z' }), name: 'b' },
  ]
  const order = (sort: Parameters<typeof arrange>[1]) => arrange(checks, sort, new Set()).map(({ targets }) => targets)

  expect(order('name')).toEqual([['lxc:102', 'lxc:101', 'host']])
  expect(order('number')).toEqual([['host', 'lxc:101', 'lxc:102']])
  expect(order('updates')).toEqual([['host', 'lxc:102', 'lxc:101']])
  expect(order('lists')).toEqual([['lxc:102', 'lxc:101', 'host']])
})

test.each([
  ['that is in order', check('lxc:101'), undefined],
  ['with updates', check('lxc:101', { waits: 1 }), 'review'],
  ['with updates and a changed file', check('lxc:101', { waits: 1, findings: ['conffile_changed'] }), 'review'],
  ['with a warning and nothing to install', check('lxc:101', { findings: ['repository_unreachable'] }), 'check'],
  ['whose lists are old', check('lxc:101', { waits: 1, findings: ['lists_stale'] }), 'check'],
  ['that another apt locks', check('lxc:101', { waits: 1, findings: ['manager_locked'] }), 'check'],
  ['that nobody checked', check('lxc:101', { state: 'unknown' }), 'check'],
  ['that is blocked', check('lxc:101', { state: 'blocked', waits: 1 }), 'check'],
  ['whose upgrade failed', check('lxc:101', { state: 'attention', last_upgrade: FAILED }), 'retry'],
  ['whose dpkg was interrupted', check('lxc:101', { findings: ['dpkg_interrupted'] }), 'repair'],
  ['whose repository has changed', withRemedy('repository_changed', 'allow_release_change'), 'accept'],
  ['whose repository is not signed', withRemedy('repository_unsigned', 'open_terminal'), 'terminal'],
  ['whose disk has a cache to clear', withRemedy('disk_low', 'clean_cache', 'blocking'), 'clear'],
  ['whose disk is low', withRemedy('disk_low', 'open_terminal', 'blocking'), 'terminal'],
  ['whose distribution has ended', check('lxc:101', { findings: ['end_of_life'] }), 'open'],
  ['whose disk is full', check('lxc:101', { used: 0.95 }), 'terminal'],
  ['whose disk is full and that has updates', check('lxc:101', { used: 0.95, waits: 1 }), 'review'],
  ['that is stopped, without a remedy', check('lxc:101', { state: 'stopped' }), undefined],
  ['that is not supported', check('lxc:101', { state: 'unsupported' }), undefined],
] as const)('the action of a target %s', (_, target, action) => {
  expect(actionOf(target, ADMIN)).toBe(action)
})

test('a running job is shown, and only administrators repair', () => {
  const unfinished = check('lxc:101', { findings: ['dpkg_interrupted'], waits: 1 })

  expect(actionOf(unfinished, { isRunning: true, isAdmin: false, mayOperate: true })).toBe('show')
  expect(actionOf(unfinished, { isRunning: false, isAdmin: false, mayOperate: true })).toBe('open')
  const changed = withRemedy('repository_changed', 'allow_release_change')
  expect(actionOf(changed, { isRunning: false, isAdmin: false, mayOperate: true })).toBe('open')
})

test('who does not work on a target can open what there is about it, and starts nothing', () => {
  const viewer = { isRunning: false, isAdmin: false, mayOperate: false }
  const verbs = [
    check('lxc:101', { waits: 1 }),
    check('lxc:101', { state: 'unknown' }),
    check('lxc:101', { findings: ['dpkg_interrupted'], waits: 1 }),
    withRemedy('repository_changed', 'allow_release_change'),
  ].map((each) => actionOf(each, viewer))

  expect(verbs).toEqual(['open', 'open', 'open', 'open'])
})

test('a filter keeps the targets of its kind', () => {
  const secure = check('lxc:102', { waits: 2 })
  const checks = [
    check('host'),
    check('lxc:101', { findings: ['disk_low'] }),
    { ...secure, counts: { ...secure.counts, security: 1 } },
    check('lxc:103', { state: 'stopped' }),
  ]
  const kept = (filter: Filter) => checks.filter((one) => passes(one, filter)).map(({ target }) => target)

  expect(kept('all')).toHaveLength(4)
  expect(kept('need')).toEqual(['lxc:101'])
  expect(kept('security')).toEqual(['lxc:102'])
  expect(kept('ready')).toEqual(['lxc:102'])
  expect(kept('stopped')).toEqual(['lxc:103'])
})

test('a search finds names, numbers, and the targets whose packages the service found', () => {
  const finds = (query: string) => isFound(check('lxc:101'), 'web', query, new Set(['host']))

  expect(['WEB', '10', ''].filter((query) => !finds(query))).toEqual([])
  expect(['db', '01', 'curl'].filter(finds)).toEqual([])
  expect(isFound(check('lxc:101'), 'web', 'curl', new Set(['lxc:101']))).toBe(true)
})

test('updates add up to the column, and unfinished, blocked and stopped targets are none that can be upgraded', () => {
  const behind = check('lxc:101', { waits: 3, state: 'ready', findings: ['kept_back_remove'] })
  const checks = [
    { ...behind, counts: { ...behind.counts, kept_back: 1, security: 2 } },
    check('lxc:102', { waits: 5, state: 'blocked' }),
    check('lxc:103', { waits: 6, findings: ['dpkg_interrupted'] }),
    check('lxc:104', { waits: 9, state: 'stopped' }),
    check('lxc:105'),
  ]

  expect(totalsOf(checks)).toEqual({
    updates: 15,
    targets: 3,
    security: 2,
    unknown: 0,
    exploited: 0,
    upgradable: 1,
    ready: 1,
    barred: 2,
  })
})

test('the words about a removal count the packages that go, and those about new packages the ones that come', () => {
  const { counts, services } = check('host')
  const finding = (code: Finding['code'], message: string): Finding => {
    return { code, severity: 'info', message, packages: ['git'], repository: null, remedy: null }
  }
  const ssh = { name: 'ssh', reason: '', package: null, restart: 'service', why: null, interrupts: null } as const
  const about = { counts: { ...counts, install: 4 }, services: [...services, ssh] }

  expect(countIn(about, finding('kept_back_install', ''))).toBe(4)
  const removes = 'Des mises à jour ne passent qu’en supprimant git-man, git-doc'
  expect(countIn(about, finding('kept_back_remove', `${removes}.`))).toBe(2)
  expect(countIn(about, finding('kept_back_remove', `${removes} et 12 autres.`))).toBe(14)
  expect(countIn(about, finding('kept_back_remove', '?'))).toBe(0)
  expect(countIn(about, finding('services_outdated', ''))).toBe(1)
  expect(countIn(about, finding('held', ''))).toBe(1)
})

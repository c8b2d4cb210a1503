import { expect, test } from 'vitest'
import { actionOf, arrange, type Filter, isFound, passes } from '../../../panel/nouns/target-list.ts'
import { AT, check } from './checks.ts'

const FAILED = { job_id: 'j', outcome: 'failed', exit_code: 100, finished_at: AT } as const
const ADMIN = { isRunning: false, isAdmin: true }

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
    { group: 'need', targets: ['lxc:102', 'lxc:101'] },
    { group: 'run', targets: ['lxc:105'] },
    { group: 'unknown', targets: ['lxc:107'] },
    { group: 'ready', targets: ['lxc:104', 'lxc:103'] },
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
  ['that is stopped, without a remedy', check('lxc:101', { state: 'stopped' }), undefined],
  ['that is not supported', check('lxc:101', { state: 'unsupported' }), undefined],
] as const)('the action of a target %s', (_, target, action) => {
  expect(actionOf(target, ADMIN)).toBe(action)
})

test('a running job is shown, and only administrators repair', () => {
  const unfinished = check('lxc:101', { findings: ['dpkg_interrupted'], waits: 1 })

  expect(actionOf(unfinished, { isRunning: true, isAdmin: false })).toBe('show')
  expect(actionOf(unfinished, { isRunning: false, isAdmin: false })).toBe('review')
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

test('a search finds names, numbers, and packages and CVEs that are known', () => {
  const packages = [{ name: 'openssl', cves: [{ id: 'CVE-2025-9230' }] }]
  const finds = (query: string) => isFound(check('lxc:101'), 'web', query, packages)

  expect(['WEB', '10', 'ssl', 'cve-2025', ''].filter((query) => !finds(query))).toEqual([])
  expect(['db', '01', 'curl'].filter(finds)).toEqual([])
})

import { expect, test } from 'vitest'
import { attentionOf, keyOf, targetsIn, thingsIn } from '../../../panel/nouns/attention.ts'
import type { Check, Finding } from '../../../panel/nouns/checked.ts'
import { needsIn, needsOf, withFigures } from '../../../panel/nouns/needs.ts'
import { newsOf } from '../../../panel/nouns/upgrade-news.ts'
import { AT, check } from './checks.ts'

const LATER = '2026-03-01T13:00:00.000Z'
const ended = (outcome: 'done' | 'warned' | 'failed', job_id = 'upgrade') => ({
  last_upgrade: { job_id, outcome, exit_code: outcome === 'failed' ? 100 : 0, finished_at: LATER },
})

const STATES = { blocking: 'blocked', warning: 'attention', info: 'up_to_date' } as const

/** A target with one finding of this severity. */
function withFinding(code: Finding['code'], severity: Finding['severity'], more: Partial<Check> = {}): Check {
  const finding = { code, severity, message: code, packages: [], repository: null, remedy: null }
  return {
    ...check('lxc:101', { state: STATES[severity] }),
    findings: [finding],
    ...more,
  }
}

const full = { disk: 93, maxdisk: 100 }

const told = (checks: readonly Check[], more: Partial<Parameters<typeof attentionOf>[0]> = {}) =>
  attentionOf({
    hasOtherKey: false,
    containers: [],
    stoppedSince: new Map(),
    jobs: [],
    modules: [],
    checks,
    ...more,
  })

test.each([
  ['is up to date', undefined, check('host')],
  ['has updates', undefined, check('host', { waits: 3 })],
  ['is stopped', undefined, check('host', { state: 'stopped', findings: ['dpkg_interrupted'] })],
  ['is not managed by apt', undefined, check('host', { state: 'unsupported', ...ended('failed') })],
  ['is blocked', 'broken', check('host', { state: 'blocked' })],
  ['has an interrupted dpkg', 'attention', check('host', { findings: ['dpkg_interrupted'] })],
  ['failed its last upgrade', 'broken', check('host', { state: 'attention', ...ended('failed') })],
  ['changed after a failed upgrade', 'broken', check('host', { state: 'unknown', changed_at: AT, ...ended('failed') })],
  ['has a full disk', 'attention', check('host', { used: 0.93 })],
  ['has a full disk and no apt', 'attention', check('lxc:101', { state: 'unsupported', used: 0.93 })],
  ['has to restart', 'attention', withFinding('reboot_required', 'info')],
  ['has services to restart', undefined, withFinding('services_outdated', 'info')],
  ['has an exploited vulnerability', 'attention', check('host', { waits: 1, exploited: 1 })],
  ['was upgraded with warnings', 'attention', check('host', ended('warned'))],
  ['failed, and was found well later', undefined, check('host', ended('failed'))],
  ['has a warning', 'attention', check('host', { findings: ['lists_stale'] })],
  ['did not answer', 'attention', check('host', { state: 'unknown' })],
  ['is checked again after no answer', undefined, check('host', { state: 'unknown', checking: true })],
  ['was never checked', undefined, check('host', { state: 'unknown', checked_at: null, lists_at: null })],
  ['changed since its check', undefined, check('host', { state: 'unknown', changed_at: AT })],
] as const)('the need of a target that %s is %s', (_, need, target) => {
  expect(needsOf(target)).toBe(need)
})

test('the menu counts the targets that need somebody, and says whether one is broken', () => {
  const warned = check('lxc:101', { findings: ['lists_stale'] })
  expect(needsIn([check('host'), warned])).toEqual({ count: 1, isBroken: false })
  expect(needsIn([check('host', { state: 'blocked' }), warned])).toEqual({ count: 2, isBroken: true })
  expect(needsIn([])).toEqual({ count: 0, isBroken: false })
})

test.each([
  ['repository_unreachable', 'warning', 'lists'],
  ['network_missing', 'warning', 'lists'],
  ['manager_locked', 'warning', 'lists'],
  ['container_locked', 'warning', 'locked'],
  ['conffile_changed', 'warning', 'conffiles'],
  ['end_of_life', 'warning', 'endOfLife'],
  ['disk_low', 'warning', 'disk'],
  ['disk_low', 'blocking', 'disk'],
  ['root_read_only', 'blocking', 'readOnly'],
  ['dependencies_broken', 'blocking', 'dependencies'],
  ['self_impact', 'blocking', 'blocked'],
  ['self_impact', 'warning', 'other'],
  ['reboot_required', 'info', 'reboot'],
  ['services_outdated', 'info', 'services'],
] as const)('the finding %s as a %s is listed once, as %s', (code, severity, kind) => {
  expect(told([withFinding(code, severity)]).map((each) => each.kind)).toEqual([kind])
})

test('what needs nobody yet is not listed: an end of life ahead, packages kept back, a stopped container', () => {
  expect(told([withFinding('end_of_life', 'info'), withFinding('kept_back_dependencies', 'info')])).toEqual([])
  expect(told([withFinding('dpkg_interrupted', 'warning', { state: 'stopped', exploited: 1 })])).toEqual([])
})

test('a full disk and a required restart are listed once, whoever tells of them', () => {
  const host = { disk: 98, maxdisk: 100, reboot_required: true, dpkg_broken: false }
  const container = { vmid: 101, name: 'web', disk: 91, maxdisk: 100 }
  const own: Check = { ...withFinding('reboot_required', 'info'), target: 'host' }

  expect(told([own, withFinding('disk_low', 'blocking')], { host, containers: [container] })).toEqual([
    // The upgrade cannot succeed there, although the disk is not quite full.
    { kind: 'disk', level: 'err', target: 'lxc:101', used: 0.91 },
    { kind: 'disk', level: 'err', target: 'host', used: 0.98 },
    { kind: 'reboot', level: 'warn', targets: ['host'] },
  ])
})

test('old lists are told by their reason, those that need a decision first', () => {
  const retry = { action: 'retry_check', label: 'Revérifier' } as const
  const silent = check('lxc:101', { findings: ['repository_unreachable', 'lists_stale'] })
  const retried = { ...silent, findings: silent.findings.map((each) => ({ ...each, remedy: retry })) }
  const unsigned = check('lxc:102', { findings: ['repository_unsigned'] })

  expect(told([retried, unsigned, check('lxc:103', { findings: ['repository_changed'] })])).toEqual([
    { kind: 'lists', level: 'warn', code: 'repository_changed', targets: ['lxc:103'], retry: false },
    { kind: 'lists', level: 'warn', code: 'repository_unsigned', targets: ['lxc:102'], retry: false },
    { kind: 'lists', level: 'warn', code: 'repository_unreachable', targets: ['lxc:101'], retry: true },
  ])
})

test('an exploited vulnerability comes right after what is broken, and updates come last', () => {
  const web = {
    ...check('lxc:102', { waits: 3, exploited: 2 }),
    counts: { ...check('host').counts, upgrade: 3, security: 2 },
  }

  expect(
    told([check('host', { findings: ['lists_stale'] }), check('lxc:101', { state: 'blocked' }), web]),
  ).toMatchObject([
    { kind: 'blocked', targets: ['lxc:101'] },
    { kind: 'exploited', targets: ['lxc:102'] },
    { kind: 'lists', targets: ['host'] },
    { kind: 'packages', updates: 3, targets: 1, security: 2 },
  ])
})

const job = (target: string, outcome: 'warned' | 'flawed', job_id = 'upgrade') => ({
  job_id,
  target,
  started_at: AT,
  outcome,
})

test('an upgrade with warnings is told until a later check of its target', () => {
  const before = check('lxc:101', { state: 'unknown', changed_at: LATER, ...ended('warned') })
  const news = { target: 'lxc:101', job: 'upgrade', outcome: 'warned' }

  expect(newsOf([job('lxc:101', 'warned')], [before])).toEqual([{ ...news, at: AT }])
  // Its job has left the list.
  expect(newsOf([], [before])).toEqual([{ ...news, at: LATER }])
  const checked = check('lxc:101', { checked_at: '2026-03-01T14:00:00.000Z', ...ended('warned') })
  expect(newsOf([job('lxc:101', 'warned')], [checked])).toEqual([])
  expect(newsOf([], [checked])).toEqual([])
})

test('an upgrade of all containers is told until none of them needs it any more', () => {
  const fine = check('lxc:101', ended('done'))
  const failed = check('lxc:102', { state: 'attention', ...ended('failed') })
  const well = check('lxc:102', { ...ended('failed'), checked_at: '2026-03-01T14:00:00.000Z' })
  const told = (checks: Check[]) => newsOf([job('all', 'flawed')], checks).map(({ target }) => target)

  expect(told([fine, failed])).toEqual(['all'])
  expect(told([fine, well])).toEqual([])
  expect(told([])).toEqual(['all'])
})

test('the dashboard and the menu name the same targets, and each of them once', () => {
  const checks = withFigures(
    [
      { ...withFinding('reboot_required', 'info'), target: 'host' },
      withFinding('end_of_life', 'warning'),
      check('lxc:102', { findings: ['repository_changed', 'conffile_changed', 'lists_stale'] }),
      check('lxc:103', { findings: ['dpkg_interrupted'], waits: 2 }),
      check('lxc:104', { waits: 3 }),
      check('lxc:105'),
      check('lxc:106', { state: 'stopped' }),
      check('lxc:107', { state: 'unsupported' }),
      check('lxc:108', { findings: ['self_impact'] }),
    ],
    { containers: [105, 106].map((vmid) => ({ vmid, ...full })) },
  )
  const found = told(checks)
  const needing = checks.filter((each) => needsOf(each) !== undefined).map(({ target }) => target)

  expect(needing).toEqual(['host', 'lxc:101', 'lxc:102', 'lxc:103', 'lxc:105', 'lxc:108'])
  expect([...new Set(found.flatMap(targetsIn))].sort()).toEqual(needing)
  expect(thingsIn(found, checks)).toBe(needsIn(checks).count)
  expect(thingsIn(told(checks, { modules: ['Bonjour'], hasOtherKey: true }), checks)).toBe(needing.length + 2)
})

test('figures that arrive later neither move an entry nor make it another one', () => {
  const disk = withFinding('disk_low', 'blocking')
  const checks = [disk, check('lxc:102', { findings: ['dpkg_interrupted'] }), check('lxc:103', { waits: 1 })]
  const before = told(checks)
  const figures = { containers: [{ vmid: 101, name: 'mail', ...full }] }
  const after = told(withFigures(checks, figures), figures)

  expect(after.map(keyOf)).toEqual(before.map(keyOf))
  expect(after.map(({ level }) => level)).toEqual(before.map(({ level }) => level))
  expect(after[0]).toMatchObject({ kind: 'disk', used: 0.93 })
})

test('a full disk and a restart that the host asks for are added to the results, and unknown sizes are not', () => {
  const host = { ...full, reboot_required: true }
  const containers = [
    { vmid: 101, disk: null, maxdisk: 10 },
    { vmid: 102, disk: 5, maxdisk: 0 },
    { vmid: 103, disk: 89, maxdisk: 100 },
  ]
  const checks = ['host', 'lxc:101', 'lxc:102', 'lxc:103'].map((target) => check(target))

  expect(withFigures(checks, { host, containers }).filter((each) => needsOf(each) !== undefined)).toMatchObject([
    { target: 'host', used: 0.93, reboot: { required: true } },
  ])
})

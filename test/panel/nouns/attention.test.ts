import { expect, test } from 'vitest'
import { ApiError } from '../../../client/index.ts'
import { attentionOf, thingsIn } from '../../../panel/nouns/attention.ts'
import { isHostKeyChanged } from '../../../panel/nouns/failure.ts'
import { arranged, moved } from '../../../panel/nouns/order.ts'
import { check } from './checks.ts'

const well = { disk: 1, maxdisk: 100, reboot_required: false, dpkg_broken: false }
const known = {
  hasOtherKey: false,
  host: well,
  containers: [],
  stoppedSince: new Map<number, number>(),
  jobs: [],
  checks: [],
  modules: [],
}
const job = (target: string, outcome: 'done' | 'warned' | 'failed' | 'flawed' | 'running', n = 0) => ({
  job_id: `${target}-${n}`,
  target,
  started_at: '2026-03-01T12:00:00.000Z',
  outcome,
})

test('a healthy host has no problems, and unknown facts produce none', () => {
  expect(attentionOf(known)).toEqual([])
  expect(attentionOf({ ...known, host: undefined })).toEqual([])
})

test('a container that stops is a problem, except while the host reboots', () => {
  const stopped = { ...known, containers: [{ vmid: 101, name: 'web', disk: 1, maxdisk: 100 }] }
  const stoppedSince = new Map([[101, 5]])
  expect(attentionOf({ ...stopped, stoppedSince })).toMatchObject([{ kind: 'stopped', vmid: 101 }])
  expect(attentionOf({ ...stopped, stoppedSince, isRebooting: true })).toEqual([])
})

test('urgent problems come first', () => {
  const found = attentionOf({
    hasOtherKey: true,
    host: { disk: 98, maxdisk: 100, reboot_required: true, dpkg_broken: true },
    containers: [{ vmid: 101, name: 'web', disk: 91, maxdisk: 100 }],
    stoppedSince: new Map([[101, 5]]),
    jobs: [job('host', 'failed'), job('lxc:101', 'flawed')],
    checks: [
      check('host', { waits: 2 }),
      check('lxc:101', { findings: ['repository_unreachable'] }),
      check('lxc:102', { waits: 3, findings: ['dpkg_interrupted'] }),
      check('lxc:103', { state: 'unknown' }),
      check('lxc:104', { waits: 1, exploited: 1 }),
      check('lxc:105', { state: 'up_to_date', findings: ['services_outdated'] }),
    ],
    modules: ['Bonjour'],
  })

  expect(found.map(({ kind, level }) => `${level} ${kind}`)).toEqual([
    'err hostKey',
    'err job',
    'err module',
    'err disk',
    'warn exploited',
    'warn job',
    'warn dpkg',
    'warn unfinished',
    'warn lists',
    'warn disk',
    'warn stopped',
    'warn reboot',
    'warn unchecked',
    'ready packages',
    'info services',
  ])
  // Unfinished packages have to be repaired before an upgrade.
  expect(found.at(-2)).toMatchObject({ updates: 6, targets: 3, security: 0, upgradable: 2 })
})

test('after a reboot its failure and the containers that are still missing are listed, each once', () => {
  const container = (vmid: number, status: string) => ({ vmid, name: `c${vmid}`, disk: 1, maxdisk: 100, status })
  const missing = [101, 102, 103].map((vmid) => ({ vmid, name: `c${vmid}` }))
  const rebooted = { job: 'r', at: '2026-03-01T12:00:00.000Z', code: 'reboot_missing', missing }
  const containers = [container(101, 'stopped'), container(102, 'running')]
  const found = attentionOf({ ...known, containers, stoppedSince: new Map([[101, 5]]), rebooted })

  expect(found).toEqual([
    { kind: 'rebooted', level: 'err', job: 'r', code: 'reboot_missing', at: rebooted.at },
    { kind: 'notBack', level: 'warn', job: 'r', targets: ['lxc:101'] },
  ])
  expect(thingsIn(found, [])).toBe(2)
  expect(attentionOf({ ...known, rebooted: { ...rebooted, code: undefined } })).toEqual([])
})

test('a newer panel is a remark, which needs nobody', () => {
  const plain = check('lxc:105', { state: 'up_to_date', findings: ['application_update'] })
  const named = (name: string) => ({ ...plain, findings: plain.findings.map((one) => ({ ...one, packages: [name] })) })
  const newer = named('ops-panel')
  const [finding] = newer.findings
  const found = attentionOf({ ...known, checks: [newer] })

  expect(found).toEqual([{ kind: 'newer', level: 'info', target: 'lxc:105', finding }])
  expect(thingsIn(found, [newer])).toBe(0)
  expect(attentionOf({ ...known, checks: [{ ...newer, state: 'stopped' }] })).toEqual([])
  // Another application is not the panel.
  expect(attentionOf({ ...known, checks: [named('vaultwarden')] })).toEqual([])
})

test('a later upgrade of the same target clears a failure', () => {
  expect(attentionOf({ ...known, jobs: [job('host', 'done', 2), job('host', 'failed', 1)] })).toEqual([])
  expect(attentionOf({ ...known, jobs: [job('host', 'running', 2), job('host', 'failed', 1)] })).toEqual([])
  expect(attentionOf({ ...known, jobs: [job('all', 'done', 2), job('host', 'failed', 1)] })).toHaveLength(1)
})

test('an upgrade of all clears a container’s failure, and upgrades of each failed container clear a failure of all', () => {
  const ended = (job_id: string, outcome: 'done' | 'failed', minute: number) => ({
    job_id,
    outcome,
    exit_code: outcome === 'done' ? 0 : 100,
    finished_at: `2026-03-01T12:0${minute}:00.000Z`,
  })
  const told = (jobs: ReturnType<typeof job>[], checks: ReturnType<typeof check>[]) =>
    attentionOf({ ...known, jobs, checks }).map(({ kind }) => kind)
  const both = [{ ...job('all', 'flawed', 2), started_at: '2026-03-01T12:01:30.000Z' }, job('lxc:101', 'failed', 1)]

  expect(told(both, [check('lxc:101', { last_upgrade: ended('all-2', 'done', 2) })])).toEqual(['job'])
  const own = { state: 'attention', last_upgrade: ended('lxc:101-1', 'failed', 1) } as const
  expect(told(both, [check('lxc:101', own)])).toEqual(['job', 'job'])

  const all = [job('all', 'flawed', 1)]
  const web = check('lxc:101', { last_upgrade: ended('all-1', 'done', 1) })
  const failed = check('lxc:102', { state: 'attention', last_upgrade: ended('all-1', 'failed', 1) })
  expect(told(all, [web, failed])).toEqual(['job'])
  expect(told(all, [web, check('lxc:102', { last_upgrade: ended('lxc:102-2', 'done', 2) })])).toEqual([])
  // Where nothing came after it, or that is not read yet, it stays.
  expect(
    told(all, [
      check('lxc:101', { last_upgrade: { ...ended('old', 'done', 0), finished_at: '2026-01-01T00:00:00.000Z' } }),
    ]),
  ).toEqual(['job'])
})

test('a container without apt reports no failure, because a retry would not help', () => {
  const last_upgrade = {
    job_id: 'all-1',
    outcome: 'failed',
    exit_code: 127,
    finished_at: '2026-03-01T12:01:00.000Z',
  } as const

  expect(attentionOf({ ...known, checks: [check('lxc:101', { state: 'unsupported', last_upgrade })] })).toEqual([])
})

test('a failed upgrade stays listed until a later one or until a check proves the target well, whatever the length of the history', () => {
  const failed = { job_id: 'old', outcome: 'failed', exit_code: 100, finished_at: '2026-01-01T00:00:00.000Z' } as const
  const checks = [check('lxc:101', { state: 'attention', last_upgrade: failed })]

  expect(attentionOf({ ...known, checks })).toEqual([
    { kind: 'job', level: 'err', outcome: 'failed', target: 'lxc:101', job: 'old', at: failed.finished_at },
  ])
  expect(attentionOf({ ...known, checks: [check('lxc:101', { last_upgrade: failed })] })).toEqual([])
  expect(attentionOf({ ...known, checks, jobs: [job('lxc:101', 'running')] })).toEqual([])
})

test('unfinished packages on the host are listed once', () => {
  const checks = [check('host', { findings: ['dpkg_interrupted'] })]
  const host = { ...well, dpkg_broken: true }

  expect(attentionOf({ ...known, host, checks })).toEqual([
    { kind: 'unfinished', level: 'warn', target: 'host', repairable: true },
  ])
})

test('a disk whose size is unknown is not full', () => {
  const containers = [
    { vmid: 101, name: 'web', disk: null, maxdisk: 10 },
    { vmid: 102, name: 'db', disk: 5, maxdisk: 0 },
  ]
  expect(attentionOf({ ...known, containers })).toEqual([])
})

test('a changed key is distinguished from other connection errors', () => {
  const failure = (message: string) =>
    new ApiError('GET /api/hypervisor/host', { status: 502, code: 'ssh_failed', message })

  expect(isHostKeyChanged(failure('Erreur SSH : la clé de l’hôte a changé : ssh-ed25519 SHA256:x au lieu de y'))).toBe(
    true,
  )
  expect(isHostKeyChanged(failure('Erreur SSH : connexion refusée'))).toBe(false)
  expect(isHostKeyChanged(undefined)).toBe(false)
})

test('cards keep the chosen order, and new ones come last', () => {
  const all = ['a', 'b', 'c', 'd'] as const

  expect(arranged(all, ['c', 'gone', 'a', 'c'])).toEqual(['c', 'a', 'b', 'd'])
  expect(moved(all, 'a', 1)).toEqual(['b', 'a', 'c', 'd'])
  expect(moved(all, 'a', -1)).toEqual(['a', 'b', 'c', 'd'])
  expect(moved(all, 'd', 9)).toEqual(['a', 'b', 'c', 'd'])
})

test('a container’s own last upgrade counts, whichever job it was part of', () => {
  const last = (job_id: string, outcome: 'done' | 'failed') => ({
    last_upgrade: { job_id, outcome, exit_code: 0, finished_at: '2026-03-01T13:00:00.000Z' },
  })
  const own = job('lxc:101', 'failed')
  const mended = { checks: [check('lxc:101', last('all-2', 'done'))], jobs: [job('all', 'done', 2), own] }
  expect(attentionOf({ ...known, ...mended })).toEqual([])

  // It failed there, and the next one left it out.
  const jobs = [job('all', 'done', 3), job('all', 'flawed', 2), job('lxc:101', 'done')]
  const stillFails = [check('lxc:101', { state: 'attention', ...last('all-2', 'failed') })]
  expect(attentionOf({ ...known, checks: stillFails, jobs })).toMatchObject([
    { kind: 'job', level: 'err', target: 'lxc:101', job: 'all-2' },
  ])
  // A failure of the upgrade of all containers is not reported again for each container.
  expect(attentionOf({ ...known, checks: stillFails, jobs: jobs.slice(1) })).toMatchObject([
    { kind: 'job', level: 'warn', target: 'all', job: 'all-2' },
  ])
})

test('an operator of some targets is told how many of these need somebody, and what they may upgrade', () => {
  const checks = [
    check('host', { waits: 2, findings: ['dpkg_interrupted'] }),
    check('lxc:101', { waits: 3, findings: ['repository_unreachable'] }),
    check('lxc:102', { waits: 4, findings: ['repository_unreachable'] }),
  ]
  const counts = (target: string) => target === 'lxc:101'
  const items = attentionOf({ ...known, checks, counts })

  expect([thingsIn(items, checks), thingsIn(items, checks, counts)]).toEqual([3, 1])
  // A failed job on all containers is a row of the list, so it counts.
  const failed = attentionOf({ ...known, checks: [], jobs: [job('all', 'failed')], counts })
  expect(thingsIn(failed, [], counts)).toBe(1)
  expect(items.find(({ kind }) => kind === 'packages')).toMatchObject({ targets: 1, updates: 3 })
  expect(attentionOf({ ...known, checks }).find(({ kind }) => kind === 'packages')).toMatchObject({
    targets: 3,
    updates: 9,
  })
})

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { DemoHostOptions } from '../../demo/host.ts'
import { OPENSSL } from '../../demo/packages.ts'
import { container, type Place } from '../../demo/place.ts'
import { withSnapshot } from '../../demo/protection/snapshots.ts'
import { docker, socket, unit } from '../../demo/protection/vital.ts'
import type { Prepared } from '../../jobs/kind.ts'
import { ANSWER, CANCEL, START } from '../../jobs/script.ts'
import { RUN_CODES } from '../../functions/managers/agreement.ts'
import { plannedCommand } from '../../functions/plans/plan-command.ts'
import { forgetCommand, protectedCommand, rollbackCommand } from '../../functions/protection/protected-run.ts'
import { REFUSED } from '../../functions/protection/protected-script.ts'
import { DEFAULT_PROTECTION, type Protection } from '../../functions/protection/protection.ts'
import { readNotes } from '../../functions/protection/run-notes.ts'
import { type Command, script } from '../../ssh/command.ts'
import { startDemo } from '../runtime/demo.ts'
import { collect, connect, follow, run, startJob } from './client.ts'

const WEB = [unit('nginx.service'), socket('tcp/443', 'nginx')]
const BROKEN: Partial<Place> = {
  upgradable: [OPENSSL],
  vitals: WEB,
  breaks: [
    { kind: 'unit', name: 'nginx.service', becomes: 'failed failed' },
    { kind: 'socket', name: 'tcp/443' },
  ],
}
const NAME = 'panel-1772366400-k3x9q2pa'
const HASH = createHash('sha256').update('upgrade openssl:amd64 3.0.15-1~deb12u1 3.0.17-1~deb12u2\n').digest('hex')
const UPGRADE = plannedCommand(
  '201',
  { hash: HASH, take: [], selection: { only: 'all', packages: null, exclude: [], allow_remove: false } },
  'root',
)

/** Starts a host whose container 201 is this one. */
async function start(place: Partial<Place>, options: DemoHostOptions = {}) {
  const one = container('201', 'one', { upgradable: [OPENSSL], ...place })
  const demo = await startDemo({ containers: [one], ...options })
  const client = await connect({ port: demo.port, ...demo.service })
  /** Runs a command as a job to its end. */
  const job = async (prepared: Prepared, id = 'job') => {
    await startJob(client, id, prepared)
    const { stdout, stderr } = await collect(await follow(client, id))
    const notes = [...stderr.matchAll(/^ops-panel note (.*)$/gm)].map(([, line = '']) => line)
    const code = /^ops-panel exit (\d+)/m.exec(stderr)?.[1]
    return { stdout, stderr, code: code === undefined ? undefined : Number(code), notes, report: readNotes(notes) }
  }
  const where = { id: '201', name: NAME, elevation: 'root' } as const
  const upgrade = (more: Partial<Protection> = {}, command: Command = UPGRADE) =>
    job(protectedCommand(where, { ...DEFAULT_PROTECTION, ...more }, command))
  const rollback = () => job(rollbackCommand(where, { kind: 'snapshot', location: null }), 'rollback')
  const forget = () => job(forgetCommand(where, { kind: 'snapshot', location: null }), 'forget')
  const names = () => (one.snapshots ?? []).map(({ name }) => name)
  return { demo, one, client, upgrade, rollback, forget, job, names, where }
}

test('a protected upgrade has its phases, its snapshot and two looks, and its output', async () => {
  const { demo, upgrade, names } = await start({ vitals: WEB })

  const { code, report, stdout } = await upgrade()

  expect(code).toBe(0)
  expect(report.phases.map(({ phase }) => phase)).toEqual([
    ...['protecting', 'measuring', 'upgrading', 'settling', 'comparing', 'pruning', 'done'],
  ])
  expect(report).toMatchObject({ outcome: 'upgraded', worse: [], snapshot: { name: NAME, kind: 'snapshot' } })
  expect(report.looks.before).toEqual(report.looks.after)
  expect(report.looks.before).toContainEqual(['socket', 'tcp/443', 'good', 'nginx'])
  expect(stdout).toContain(`  Logical volume "snap_vm-201-disk-0_${NAME}" created.\n`)
  expect(stdout).toContain('Unpacking openssl')
  expect(demo.upgradable('201')).toEqual([])
  expect(names()).toEqual([NAME])
})

test('an upgrade that breaks two things names them, and a person rolls it back', async () => {
  const { demo, upgrade, rollback, names, one } = await start(BROKEN)

  const { code, report } = await upgrade()

  expect([code, report.outcome]).toEqual([0, 'regressed'])
  expect(report.worse).toEqual([
    ['socket', 'tcp/443', 'nginx', null],
    ['unit', 'nginx.service', 'active running', 'failed failed'],
  ])
  expect(demo.upgradable('201')).toEqual([])
  const back = await rollback()
  expect(back.report).toMatchObject({ outcome: 'rolled_back', rollback: { done: true, left: [] } })
  expect([demo.upgradable('201'), one.running, names()]).toEqual([['openssl'], true, [NAME]])
})

test('a policy may roll back by itself, and the same upgrade breaks the same things again', async () => {
  const { demo, upgrade, forget, names } = await start({
    vitals: docker('app'),
    breaks: [{ kind: 'docker', name: 'app', becomes: 'exited 128' }],
  })

  const first = await upgrade({ on_failure: 'rollback' })
  await forget()

  expect(first.report).toMatchObject({ outcome: 'rolled_back', worse: [['docker', 'app', 'running', 'exited 128']] })
  expect([first.code, demo.upgradable('201'), names()]).toEqual([0, ['openssl'], []])
})

test('what comes back by itself is unsteady, and no regression', async () => {
  const { upgrade } = await start({ vitals: WEB, breaks: [{ kind: 'unit', name: 'nginx.service', looks: 2 }] })

  const { report } = await upgrade()

  expect(report).toMatchObject({
    outcome: 'upgraded',
    worse: [],
    unsteady: [['unit', 'nginx.service', 'active running', null]],
  })
})

test('what has failed before is no regression', async () => {
  const failed = { kind: 'unit', name: 'old.service', state: 'bad', detail: 'failed failed' } as const
  const { upgrade } = await start({ vitals: [...WEB, failed] })

  expect((await upgrade()).report).toMatchObject({ outcome: 'upgraded', worse: [] })
})

test('a plan that differs changes nothing, and its snapshot goes', async () => {
  const { upgrade, names, demo } = await start({ upgradable: [OPENSSL, { ...OPENSSL, name: 'other' }] })

  const { code, report } = await upgrade()

  expect([code, report.outcome, report.pruned]).toEqual([RUN_CODES.differs, 'failed', [NAME]])
  expect([names(), demo.upgradable('201')]).toEqual([[], ['openssl', 'other']])
})

const REFUSALS: readonly [string, Partial<Place>, Partial<Protection>, string, string][] = [
  ['locked', { lockedFor: 'backup' }, {}, 'locked', 'CT is locked (backup)'],
  ['dir storage', { storage: 'local' }, { before: 'snapshot' }, 'failed', 'snapshot feature is not available'],
  ['bind mount', { mounts: { mp0: '/srv,mp=/srv' } }, { before: 'snapshot' }, 'failed', 'snapshot feature is not'],
  ['a failure', { faults: { snapshot: 'lvcreate failed' } }, {}, 'failed', 'lvcreate failed'],
  ['the wrong storage', {}, { before: 'backup', backup_storage: 'local-lvm' }, 'failed', 'wrong content type'],
]
test.each(REFUSALS)('nothing is upgraded without the protection: %s', async (_title, place, policy, why, reason) => {
  const { upgrade, demo, names } = await start(place)

  const { code, report, stdout } = await upgrade(policy)

  expect(code).toBe(REFUSED)
  expect(report.refused).toMatchObject({ why, reason: expect.stringContaining(reason) })
  expect(stdout).toContain('ops-panel: ')
  expect([demo.upgradable('201'), names()]).toEqual([['openssl'], []])
})

test('a full pool takes no snapshot, and the reason has its figures', async () => {
  const { upgrade, demo } = await start({}, { host: { pool: { data: 99.87, metadata: 96.1 } } })

  const { code, report } = await upgrade()

  const reason = 'no room for a snapshot: pve/data: 99.87 % (metadata: 96.10 %)'
  expect([code, report.refused]).toEqual([REFUSED, { why: 'full', reason }])
  expect(demo.upgradable('201')).toEqual(['openssl'])
})

test('where the storage cannot, the upgrade goes on without a snapshot and is compared all the same', async () => {
  const { upgrade } = await start({ ...BROKEN, storage: 'local' })

  const { code, report } = await upgrade({ on_failure: 'rollback' })

  expect(code).toBe(0)
  expect(report).toMatchObject({ unprotected: 'snapshot feature is not available', outcome: 'regressed' })
  expect(report.snapshot).toBeUndefined()
})

test('a rollback that fails leaves the container stopped and locked; the next one takes the lock away', async () => {
  const { upgrade, rollback, one } = await start({ ...BROKEN, faults: { rollback: 'lvremove failed' } })

  const { report } = await upgrade({ on_failure: 'rollback' })
  const left = { running: one.running, lock: one.lockedFor }
  one.faults = {}
  const again = await rollback()

  expect(report).toMatchObject({ outcome: 'rollback_failed', rollback: { done: false, reason: 'lvremove failed' } })
  expect(left).toEqual({ running: false, lock: 'rollback' })
  expect([again.report.outcome, one.running, one.lockedFor]).toEqual(['rolled_back', true, undefined])
})

test('only so many snapshots of the panel stay, and those of others are left alone', async () => {
  const { upgrade, names, one } = await start({})
  for (const [name, days] of [
    ['mine', 9],
    ['panel-1772000000-aaaaaaaa', 8],
    ['panel-1772100000-bbbbbbbb', 7],
  ] as const)
    withSnapshot(one, name, days, 'x')

  const { report } = await upgrade({ keep: 2 })

  expect(report.pruned).toEqual(['panel-1772000000-aaaaaaaa'])
  expect(names()).toEqual(['mine', 'panel-1772100000-bbbbbbbb', NAME])
})

test('a backup is made and restored', async () => {
  const { upgrade, job, demo, one } = await start(BROKEN)

  const { report } = await upgrade({ before: 'backup', backup_storage: 'nas' })
  const location = report.snapshot?.location ?? ''
  const place = { id: '201', name: NAME, elevation: 'root' } as const
  const back = await job(rollbackCommand(place, { kind: 'backup', location }), 'rollback')

  expect(report).toMatchObject({ outcome: 'regressed', snapshot: { kind: 'backup' } })
  expect(location).toMatch(/^nas:backup\/vzdump-lxc-201-\d{4}_\d\d_\d\d-\d\d_\d\d_\d\d\.tar\.zst$/)
  expect(report.archive).toMatchObject({ location, of: { root: 'local-lvm', volumes: ['rootfs'] } })
  expect([back.report.outcome, demo.upgradable('201'), one.running]).toEqual(['rolled_back', ['openssl'], true])
  await job(forgetCommand(place, { kind: 'backup', location }), 'forget')
  expect(one.backups).toEqual([])
})

test('probes run inside, and the service answers for its own', async () => {
  const { demo, client, upgrade } = await start({ vitals: WEB })
  const answered = new Set<string>()
  const probes: Protection['probes'] = [
    { kind: 'tcp', port: 443 },
    { kind: 'tcp', port: 81 },
    { kind: 'unit', name: 'nginx' },
    { kind: 'command', command: ['nft', 'list'] },
    { kind: 'http', url: 'http://web.example/', status: 200 },
  ]
  // The service answers a question as soon as it reads it; the answers may be there before.
  const answer = async (which: string) => {
    answered.add(which)
    await run(client, script(ANSWER, 'ops-panel-job', 'job', which, 'probe\thttp http://web.example/\tgood\t200'))
  }
  const upgrading = upgrade({ probes })
  await expect.poll(() => demo.commands.some((words) => words.includes(START))).toBe(true)
  for (const which of ['before', 'upgraded', 'after']) await answer(which)

  const { report, notes } = await upgrading

  expect(report.looks.after?.filter(([kind]) => kind === 'probe')).toEqual([
    ['probe', 'tcp 443', 'good', 'connected'],
    ['probe', 'tcp 81', 'bad', 'refused'],
    ['probe', 'unit nginx', 'good', 'active'],
    ['probe', 'command nft list', 'bad', 'exit 127'],
    ['probe', 'http http://web.example/', 'good', '200'],
  ])
  expect(notes.filter((line) => line.startsWith('{"ask"'))).toHaveLength(answered.size)
})

test('notes arrive as they are written, and a cancelled upgrade keeps its snapshot', async () => {
  const { demo, client, names, one } = await start(BROKEN, { lineMs: 40 })
  const place = { id: '201', name: NAME, elevation: 'root' } as const
  await startJob(client, 'job', protectedCommand(place, DEFAULT_PROTECTION, UPGRADE))
  const channel = await follow(client, 'job')
  let live = ''
  channel.stderr.on('data', (chunk: Buffer) => {
    live += chunk.toString()
  })

  const ended = collect(channel)
  await expect.poll(() => live).toContain('{"phase":"upgrading"')
  await run(client, script(CANCEL, 'ops-panel-job', 'job'))
  const { stderr } = await ended

  const phases = [...live.matchAll(/^\{"phase":"(\w+)"/gm)].map(([, phase]) => phase)
  expect(phases).toEqual(['protecting', 'measuring', 'upgrading'])
  expect(stderr).toContain('ops-panel exit 143 ')
  expect(stderr).toContain('ops-panel note {"outcome":"cancelled"')
  expect([names(), one.lockedFor, demo.upgradable('201')]).toEqual([[NAME], undefined, ['openssl']])
})

test('a cancelled run finishes its snapshot first', async () => {
  const { client, names, demo } = await start({}, { lineMs: 40 })
  const place = { id: '201', name: NAME, elevation: 'root' } as const
  await startJob(client, 'job', protectedCommand(place, DEFAULT_PROTECTION, UPGRADE))
  await run(client, script(CANCEL, 'ops-panel-job', 'job'))

  const { stderr } = await collect(await follow(client, 'job'))

  expect(stderr).toContain('"outcome":"cancelled"')
  expect([names(), demo.upgradable('201')]).toEqual([[NAME], ['openssl']])
})

test('an account with a sudo rule for all of pct asks nobody for the steps, also where there is an API', async () => {
  const { job, names, where } = await start({ vitals: WEB })
  const command = protectedCommand({ ...where, elevation: 'rule', hasApi: true }, DEFAULT_PROTECTION, ['true'])

  const { report } = await job(command)

  expect(report).toMatchObject({ outcome: 'nothing_to_do', snapshot: { name: NAME }, pruned: [NAME] })
  expect(names()).toEqual([])
})

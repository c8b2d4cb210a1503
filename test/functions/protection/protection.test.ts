import { expect, test } from 'vitest'
import * as z from 'zod'
import type { Database } from '../../../db/libsql/database.ts'
import { notePresent, noteSnapshot, type SnapshotRow, snapshotOfJob, snapshotsOf } from '../../../db/snapshots.ts'
import { CHECK } from '../../../functions/checks/check-script.ts'
import checks from '../../../functions/checks/checks.get.ts'
import startChecks from '../../../functions/checks/checks.post.ts'
import job from '../../../functions/jobs/job.get.ts'
import { policyOf } from '../../../functions/protection/policies.ts'
import remove from '../../../functions/protection/protection.delete.ts'
import read from '../../../functions/protection/protection.get.ts'
import save from '../../../functions/protection/protection.put.ts'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { FOLLOW, START as LAUNCH, OUTPUT_MARK } from '../../../jobs/script.ts'
import { START as NOW, testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'

const PATH = '/api/updates/protection'
const LIST = `VMID       Status     Lock         Name
101        running                 web
102        stopped                 db
`
const STORAGE = `storages
storage local dir backup
storage local-lvm lvmthin -
container 101
volume 101 rootfs storage local-lvm
snapshot 101 panel-1772366400-k3x9q2pa 1772366400
snapshot 101 before-php 1772366300
container 102
volume 102 rootfs storage local
end
`
const WHY = 'le stockage local (dir) ne sait pas faire d’instantané'

function frame(mark: string, name: string, text: string): string {
  return `${mark} ${name} 0\n${text.replace(/^/gm, ' ')}\n${mark} end ${name}\n`
}

/** A service whose host answers a check with these texts. */
async function protectionApp({ storage = STORAGE as string | null } = {}) {
  const host = { storage, list: LIST }
  let mark = ''
  const exec = (command: readonly string[]) => {
    if (command[2] === LAUNCH) mark = command[command.indexOf(CHECK) + 2] ?? ''
    if (command[2] !== FOLLOW) return {}
    const text = `${frame(mark, 'list', host.list)}${host.storage === null ? '' : frame(mark, 'storage', host.storage)}`
    return { stdout: `${OUTPUT_MARK}\n${text}`, stderr: `ops-panel exit 0 ${Buffer.byteLength(text)}\n` }
  }
  const app = await testApp([checks, startChecks, job, read, remove, save], { fake: { exec } })
  const check = async (target = 'all') => {
    await answered(await app.request('POST', '/api/updates/checks', { as: 'user', body: { target } }), 202)
    await expect.poll(() => rows(app.db, `SELECT id FROM jobs WHERE status = 'running' AND kind = 'check'`)).toEqual([])
  }
  const told = async () => Answer.parse(await answered(await app.request('GET', PATH, { as: 'user' }), 200))
  const put = (target: string, body: unknown, as: 'user' | 'admin' = 'admin') =>
    app.request('PUT', `${PATH}/${target}`, { as, body })
  const drop = (target: string) => app.request('DELETE', `${PATH}/${target}`, { as: 'admin' })
  const findings = async () => {
    const { checks: all } = z
      .object({
        checks: z.array(z.object({ target: z.string(), findings: z.array(z.record(z.string(), z.unknown())) })),
      })
      .parse(await answered(await app.request('GET', '/api/updates/checks', { as: 'user' }), 200))
    return all.flatMap((each) =>
      each.findings.filter(({ code }) => code === 'protection_unavailable').map((one) => [each.target, one.severity]),
    )
  }
  return { app, host, check, told, put, drop, findings }
}

const Answer = z.object({
  default: z.unknown(),
  targets: z.array(z.looseObject({ target: z.string(), own: z.boolean(), protection: z.unknown() })),
  storages: z.array(z.string()),
})

const OWN = {
  ...DEFAULT_PROTECTION,
  before: 'snapshot',
  on_failure: 'rollback',
  settle_seconds: 5,
  probes: [
    { kind: 'http', url: 'https://192.0.2.1/health', status: 200 },
    { kind: 'tcp', port: 443 },
    { kind: 'unit', name: 'getty@tty1.service' },
    { kind: 'command', command: ['nc', '-z', '127.0.0.1', '25'] },
  ],
} as const

/** The probes of `OWN` in the audit log: the words of a command may be secrets. */
const PROBES = 'http https://192.0.2.1/health 200, tcp 443, unit getty@tty1.service, command aef130fe3ea3'

test('a check tells what each container’s storage can do, and which snapshots exist', async () => {
  const { check, told } = await protectionApp()

  await check()

  const snapshot = { kind: 'snapshot', present: true }
  expect(await told()).toEqual({
    default: DEFAULT_PROTECTION,
    targets: [
      {
        target: 'lxc:101',
        name: 'web',
        protection: DEFAULT_PROTECTION,
        own: false,
        can: { snapshot: true, backup: true, why: null },
        snapshots: [
          {
            ...snapshot,
            name: 'panel-1772366400-k3x9q2pa',
            made_at: '2026-03-01T12:00:00.000Z',
            job_id: '1772366400-k3x9q2pa',
            ours: true,
          },
          { ...snapshot, name: 'before-php', made_at: '2026-03-01T11:58:20.000Z', job_id: null, ours: false },
        ],
      },
      {
        target: 'lxc:102',
        name: 'db',
        protection: DEFAULT_PROTECTION,
        own: false,
        can: { snapshot: false, backup: true, why: WHY },
        snapshots: [],
      },
    ],
    storages: ['local'],
  })
})

test('an account that may not read the configuration leaves what is known, and nothing is known at first', async () => {
  const { host, check, told } = await protectionApp({ storage: null })
  const unknown = { snapshot: null, backup: null, why: null }

  await check()
  expect(await told()).toMatchObject({ targets: [{ can: unknown, snapshots: [] }, { can: unknown }], storages: [] })

  host.storage = STORAGE
  await check()
  host.storage = 'end\n'
  await check()
  host.storage = 'container 101\n'
  await check()

  expect(await told()).toMatchObject({
    targets: [{ can: { snapshot: true }, snapshots: [{}, {}] }, { can: { snapshot: false } }],
    storages: ['local'],
  })
})

test('a snapshot that a check no longer sees is gone, a backup stays, and what is back is there again', async () => {
  const { app, host, check, told } = await protectionApp()
  await check()
  await app.db.batch([noteSnapshot(BACKUP)])

  host.storage = STORAGE.replace(/^snapshot.*\n/gm, '')
  await check()

  expect(await told()).toMatchObject({ targets: [{ snapshots: [{ name: BACKUP.name, kind: 'backup' }] }, {}] })
  expect((await snapshotsOf(app.db, 'lxc:101')).map(({ name, present }) => [name, present])).toEqual([
    [BACKUP.name, true],
    ['panel-1772366400-k3x9q2pa', false],
    ['before-php', false],
  ])

  host.storage = STORAGE
  await check()

  expect((await snapshotsOf(app.db, 'lxc:101')).every(({ present }) => present)).toBe(true)
})

test.each([
  ['runs', null],
  ['has ended during the check', '2026-03-01T12:00:01.000Z'],
])('the view of a check is dropped for the snapshots of a container whose upgrade %s', async (_, finished) => {
  const { app, host, check } = await protectionApp()
  await check()
  await addUpgrade(app.db, finished)
  await app.db.batch([noteSnapshot({ ...SNAPSHOT, name: 'panel-1772366500-aaaaaaaa' })])

  host.storage = STORAGE.replace('before-php', 'after-php')
  await check('lxc:101')

  const known = (await snapshotsOf(app.db, 'lxc:101')).map(({ name, present }) => [name, present])
  expect(known).toEqual([
    ['panel-1772366400-k3x9q2pa', true],
    ['panel-1772366500-aaaaaaaa', true],
    ['before-php', true],
  ])
})

test('a policy is stored with its audit entry, replaces the former one, and goes back to the default', async () => {
  const { app, check, told, put, drop } = await protectionApp()
  await check()

  expect(await answered(await put('lxc:101', OWN), 200)).toEqual({ message: 'Protection enregistrée.' })
  expect(await answered(await put('default', { ...DEFAULT_PROTECTION, keep: 7 }), 200)).toEqual({
    message: 'Protection par défaut enregistrée.',
  })

  expect(await told()).toMatchObject({
    default: { keep: 7 },
    targets: [
      { target: 'lxc:101', own: true, protection: OWN },
      { target: 'lxc:102', own: false, protection: { keep: 7 } },
    ],
  })
  expect(await policyOf(app.db, 'lxc:101')).toEqual(OWN)
  expect(await policyOf(app.db, 'lxc:999')).toMatchObject({ keep: 7 })

  for (const target of ['lxc:101', 'default', 'lxc:101']) await answered(await drop(target), 200)

  expect(await told()).toMatchObject({ default: DEFAULT_PROTECTION, targets: [{ own: false }, { own: false }] })
  const entries = await audited(app.db)
  const changes = entries.filter(({ action }) => action === 'protection_change')
  expect(changes.map(({ target, username, details }) => ({ target, username, details }))).toEqual([
    {
      target: 'lxc:101',
      username: 'alice',
      details: {
        before: 'snapshot',
        backup_storage: null,
        keep: 3,
        on_failure: 'rollback',
        settle_seconds: 5,
        probes: 4,
        before_before: 'auto',
        before_after: 'snapshot',
        on_failure_before: 'ask',
        on_failure_after: 'rollback',
        settle_seconds_before: 60,
        settle_seconds_after: 5,
        probes_before: '',
        probes_after: PROBES,
      },
    },
    {
      target: 'default',
      username: 'alice',
      details: expect.objectContaining({ keep: 7, keep_before: 3, keep_after: 7 }),
    },
    {
      target: 'lxc:101',
      username: 'alice',
      details: expect.objectContaining({ removed: true, keep_before: 3, keep_after: 7, probes_before: PROBES }),
    },
    { target: 'default', username: 'alice', details: { removed: true, keep_before: 7, keep_after: 3 } },
  ])
})

test.each([
  [{ before: 'maybe' }, 'before'],
  [{ keep: 0 }, 'keep'],
  [{ keep: 21 }, 'keep'],
  [{ settle_seconds: 4 }, 'settle_seconds'],
  [{ settle_seconds: 901 }, 'settle_seconds'],
  [{ backup_storage: '-x' }, 'backup_storage'],
  [{ backup_storage: 'a b' }, 'backup_storage'],
  [{ probes: Array.from({ length: 11 }, () => ({ kind: 'tcp', port: 1 })) }, 'probes'],
  [{ probes: [{ kind: 'tcp', port: 0 }] }, 'probes.0.port'],
  [{ probes: [{ kind: 'http', url: 'file:///etc/passwd', status: 200 }] }, 'probes.0.url'],
  [{ probes: [{ kind: 'http', url: '', status: 200 }] }, 'probes.0.url'],
  [{ probes: [{ kind: 'http', url: 'pas une adresse', status: 200 }] }, 'probes.0.url'],
  [{ probes: [{ kind: 'http', url: 'http://bob:secret@a/', status: 200 }] }, 'probes.0.url'],
  [{ probes: [{ kind: 'http', url: 'http://a/', status: 99 }] }, 'probes.0.status'],
  [{ probes: [{ kind: 'unit', name: '--all' }] }, 'probes.0.name'],
  [{ probes: [{ kind: 'unit', name: 'a b' }] }, 'probes.0.name'],
  [{ probes: [{ kind: 'command', command: [] }] }, 'probes.0.command'],
  [{ probes: [{ kind: 'command', command: [''] }] }, 'probes.0.command.0'],
  [{ probes: [{ kind: 'command', command: ['a', 'b\0c'] }] }, 'probes.0.command.1'],
  [{ probes: [{ kind: 'command', command: ['x'.repeat(501)] }] }, 'probes.0.command.0'],
  [{ other: 1 }, ''],
  [{ probes: [{ kind: 'other' }] }, 'probes.0.kind'],
])('%j is refused with its field, and nothing is stored', async (wrong, field) => {
  const { app, check, put } = await protectionApp()
  await check()

  const { details } = await refused(
    await put('lxc:101', { ...DEFAULT_PROTECTION, ...wrong }),
    422,
    'protection_invalid',
  )

  expect(details?.map((each) => each.field)).toEqual([field])
  expect(await rows(app.db, 'SELECT target FROM protections')).toEqual([])
})

test('a policy of the host, of everything, or of a container that is not listed is refused, and so is a user', async () => {
  const { app, check, put } = await protectionApp()
  await check()

  for (const target of ['host', 'all', 'lxc:abc', 'lxc:1', 'DEFAULT', 'lxc:101%00'])
    await refused(await put(target, DEFAULT_PROTECTION), 404, 'not_found')
  await refused(await put('lxc:999', DEFAULT_PROTECTION), 400, 'target_invalid')
  await refused(await put('lxc:101', DEFAULT_PROTECTION, 'user'), 403, 'forbidden')

  expect(await rows(app.db, 'SELECT target FROM protections')).toEqual([])
})

test('a stored policy that this version cannot read is as if it were not there', async () => {
  const { app, check, put } = await protectionApp()
  await check()
  await answered(await put('lxc:101', OWN), 200)
  await app.db.run(`UPDATE protections SET protection = json_set(protection, '$.before', 'other')`)

  expect(await policyOf(app.db, 'lxc:101')).toEqual(DEFAULT_PROTECTION)
})

test('a check says where a policy asks for what the storage cannot do, at once after each change of the policy', async () => {
  const { check, put, drop, findings } = await protectionApp()
  await check()
  expect(await findings()).toEqual([['lxc:102', 'info']])

  await put('default', { ...DEFAULT_PROTECTION, before: 'snapshot' })
  expect(await findings()).toEqual([['lxc:102', 'warning']])

  await put('lxc:102', { ...DEFAULT_PROTECTION, before: 'none' })
  expect(await findings()).toEqual([])

  await drop('lxc:102')
  await drop('default')
  expect(await findings()).toEqual([['lxc:102', 'info']])
})

const SNAPSHOT: SnapshotRow = {
  target: 'lxc:101',
  name: 'panel-1772366500-k3x9q2pa',
  kind: 'snapshot',
  made_at: NOW.toISOString(),
  job_id: '1772366500-k3x9q2pa',
  ours: true,
  present: true,
  location: null,
}
const BACKUP: SnapshotRow = {
  ...SNAPSHOT,
  kind: 'backup',
  name: 'panel-1772366600-k3x9q2pa',
  made_at: '2026-03-01T12:03:00.000Z',
  location: 'local:backup/vzdump-lxc-101.tar.zst',
}

async function addUpgrade(db: Database, finished: string | null) {
  const id = SNAPSHOT.job_id
  await db.run(
    `INSERT INTO jobs (id, kind, args, queue, target, status, started_at, finished_at, started_by, launched, epoch)
     SELECT ?, 'upgrade', '{}', '', 'lxc:101', ?, ?, ?, id, 1, 1 FROM users WHERE username = 'bob'`,
    [id, finished === null ? 'running' : 'success', NOW.toISOString(), finished],
  )
}

test('a snapshot is found by its job, and noted with the end of that job alone', async () => {
  const { app, check } = await protectionApp()
  await check()
  await addUpgrade(app.db, null)
  const running = { id: '1772366500-k3x9q2pa', epoch: 1 }

  await app.db.batch([noteSnapshot(SNAPSHOT, running)])
  expect(await snapshotOfJob(app.db, running.id)).toBeUndefined()

  await app.db.run(`UPDATE jobs SET status = 'success' WHERE id = ?`, [running.id])
  await app.db.batch([noteSnapshot(SNAPSHOT, { ...running, epoch: 2 })])
  expect(await snapshotOfJob(app.db, running.id)).toBeUndefined()

  await app.db.batch([noteSnapshot(SNAPSHOT, running), noteSnapshot({ ...SNAPSHOT, target: 'lxc:102' })])
  expect(await snapshotOfJob(app.db, running.id)).toEqual(SNAPSHOT)

  await app.db.batch([notePresent({ ...SNAPSHOT, present: false })])
  expect(await snapshotOfJob(app.db, running.id)).toEqual({ ...SNAPSHOT, present: false })
})

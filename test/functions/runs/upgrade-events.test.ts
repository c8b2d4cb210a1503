import { expect, test } from 'vitest'
import * as z from 'zod'
import { findJob } from '../../../db/jobs.ts'
import { RUN_CODES } from '../../../functions/managers/agreement.ts'
import { REFUSED } from '../../../functions/protection/protected-script.ts'
import { upgradeJob } from '../../../functions/runs/upgrade-job.ts'
import { SshError } from '../../../ssh/connection.ts'
import { START as NOW } from '../../app.ts'
import { rows } from '../answers.ts'
import { told, toldNames } from '../notifications/told.ts'
import { planApp } from '../plans/plan-host.ts'

const notes = (...all: object[]) => all.map((note) => JSON.stringify(note))
const WORSE = [
  ['unit', 'nginx.service', 'active running', 'failed failed'],
  ['socket', 'tcp/443', 'nginx', null],
]
const BROKEN = ['Le service nginx.service est en échec.', 'Le port tcp/443 n’écoute plus (nginx).']
const CHANGED =
  'Ce qui allait être fait n’est plus ce que le plan annonçait : rien n’a été changé. Faites un nouveau plan.'
const UNPROTECTED =
  'La protection demandée n’a pas pu être mise en place : rien n’a été mis à jour. La sortie dit pourquoi. (no room for a snapshot: 97 %)'

/** A host on which every job ends like this, and the container `lxc:101` with the name web. */
async function world(given: Parameters<typeof planApp>[0] = {}) {
  const all = await planApp(given)
  const sql = `INSERT INTO checks (target, vmid, name, status) VALUES ('lxc:101', 101, 'web', 'running'), ('lxc:102', 102, 'db', 'running')`
  await all.app.db.run(sql)
  /** Runs a plan of a target to its end. */
  const upgrade = async (target = 'lxc:101') => {
    await all.store('p', { target })
    return all.ended(await all.start({ target, plan: 'p' }))
  }
  return { ...all, upgrade }
}

test.each([
  ['upgrade_done', { notes: notes({ upgraded: 0 }, { compared: [] }, { outcome: 'upgraded' }) }, {}],
  [
    'regressed',
    { notes: notes({ upgraded: 0 }, { compared: WORSE }, { outcome: 'regressed' }) },
    { worse: 2, regressions: BROKEN },
  ],
  [
    'rolled_back',
    { notes: notes({ compared: WORSE }, { rollback: 'done', outage: 9 }, { outcome: 'rolled_back' }) },
    { worse: 2, regressions: BROKEN },
  ],
  [
    'rollback_failed',
    { notes: notes({ rollback: 'failed', reason: 'zfs error: busy' }, { outcome: 'rollback_failed' }), code: 1 },
    { reason: 'zfs error: busy' },
  ],
  ['upgrade_failed', { notes: notes({ upgraded: 100 }, { outcome: 'failed' }), code: 1 }, { code: 100, reason: null }],
  ['upgrade_failed', { code: RUN_CODES.differs, notes: [] }, { outcome: 'plan_changed', reason: CHANGED }],
  [
    'upgrade_failed',
    { code: REFUSED, notes: notes({ refused: 'full', reason: 'no room for a snapshot: 97 %' }) },
    { outcome: 'failed', reason: UNPROTECTED },
  ],
] as const)('an upgrade that ends so tells %s once, with who, where and why (%#)', async (event, given, details) => {
  const { app, upgrade } = await world(given)

  const { job_id } = await upgrade()

  expect(await told(app.db)).toMatchObject([
    {
      event,
      target: 'lxc:101',
      run: null,
      at: NOW.toISOString(),
      details: { job: job_id, name: 'web', by: 'bob', schedule: null, ...details },
    },
  ])
})

test('an upgrade that changes nothing tells nothing', async () => {
  const { app, upgrade } = await world({ notes: notes({ outcome: 'nothing_to_do' }) })

  expect((await upgrade()).outcome).toBe('nothing_to_do')

  expect(await told(app.db)).toEqual([])
})

test('an upgrade that a user cancels tells nothing', async () => {
  const { app, store, start, ended } = await world({ isBusy: true })
  for (const id of ['p', 'q']) await store(id, { target: 'lxc:101' })
  await start({ target: 'lxc:101', plan: 'p' })
  const waiting = await start({ target: 'lxc:101', plan: 'q' })

  await app.services.jobs.cancel(waiting, 'bob')

  expect((await ended(waiting)).outcome).toBe('cancelled')
  expect(await told(app.db)).toEqual([])
})

test('an upgrade of which the host cannot be asked says so', async () => {
  const { app, upgrade } = await world()
  app.services.host.exec = async () => {
    throw new SshError('bad_credentials', 'authentification refusée pour panel')
  }

  await upgrade('host')

  expect(await told(app.db)).toMatchObject([
    {
      event: 'upgrade_failed',
      target: 'host',
      details: { name: '', code: null, reason: 'Erreur SSH : authentification refusée pour panel' },
    },
  ])
})

test.each([
  ['rolled_back', { notes: notes({ rollback: 'done', outage: 9 }, { outcome: 'rolled_back' }) }, null],
  [
    'rollback_failed',
    { notes: notes({ refused: 'missing', reason: 'the snapshot is not there' }), code: 1 },
    'the snapshot is not there',
  ],
] as const)('a rollback that somebody starts tells %s', async (event, given, reason) => {
  const { app, ended } = await world(given)
  const args = { target: 'lxc:101', of: 'former', name: 'panel-former', kind: 'snapshot', location: null }
  const [bob] = await app.db.query(z.object({ id: z.number() }), `SELECT id FROM users WHERE username = 'bob'`)

  const job = await app.services.jobs.start({ kind: 'rollback', args, target: 'lxc:101', startedBy: bob?.id ?? 0 })
  await ended(job)

  const details = { job, name: 'web', by: 'bob', reason: reason && expect.stringContaining(reason) }
  expect(await told(app.db)).toMatchObject([{ event, target: 'lxc:101', details }])
})

test('an upgrade of all containers tells each failure, as one group', async () => {
  const { app, start, ended } = await world({ code: 1, notes: ['101 done 0', '102 failed 100', '103 failed 1'] })

  const job = await start({ target: 'all' })
  await ended(job)

  expect(await told(app.db)).toMatchObject([
    { event: 'upgrade_failed', target: 'lxc:102', run: job, details: { job, code: 100 } },
    { event: 'upgrade_failed', target: 'lxc:103', run: job, details: { job, code: 1 } },
  ])
})

test('an upgrade of all containers without a failure is one event for every channel', async () => {
  const { app, start, ended } = await world({ notes: ['101 done 0', '102 warned 0'] })

  await ended(await start({ target: 'all' }))

  expect(await told(app.db)).toMatchObject([{ event: 'upgrade_done', target: null, run: null, details: { name: '' } }])
})

test('the events of a run of plans are a group, and those of a schedule’s waves are one of the schedule', async () => {
  const { app, store, send } = await world({ notes: notes({ outcome: 'upgraded' }) })
  let round = 0
  const run = async (...targets: string[]) => {
    const plans = await Promise.all(targets.map((target, n) => store(`${round}-${n}`, { target })))
    round += 1
    const before = (await told(app.db)).length
    const response = await send('POST', '/api/updates/runs', { plans })
    expect(response.status).toBe(202)
    await expect.poll(async () => (await told(app.db)).length).toBe(before + targets.length)
    return (await told(app.db)).slice(before)
  }

  const [one, other] = await run('lxc:101', 'lxc:102')
  expect(await rows(app.db, 'SELECT id FROM runs')).toEqual([{ id: one?.run }])
  expect(other).toMatchObject({ run: one?.run, details: { by: 'bob', schedule: null } })

  await app.db.script(`
    INSERT INTO schedules (id, name, enabled, cron, timezone, settings, created_by, created_at, changed_at, handled_ms)
      SELECT 's1', 'Nuit', 1, '', '', '', id, '', '', 0 FROM users WHERE username = 'bob';
    INSERT INTO schedule_runs (id, schedule_id, due_ms, due_at, closes_at, state, settings, waves)
      VALUES ('r1', 's1', 0, '', '2099-01-01T00:00:00.000Z', 'running', '', '');
    CREATE TRIGGER scheduled AFTER INSERT ON runs BEGIN UPDATE runs SET schedule_run_id = 'r1' WHERE id = NEW.id; END;`)

  const [scheduled] = await run('lxc:101')
  expect(scheduled).toMatchObject({ run: 'r1', details: { by: null, schedule: { run: 'r1', name: 'Nuit' } } })
})

test('the end of an upgrade is stored with its event, or not at all', async () => {
  const { app, store, start, ended, read } = await world({ notes: notes({ outcome: 'upgraded' }) })
  await app.db.script(`CREATE TRIGGER full BEFORE INSERT ON notification_events BEGIN SELECT RAISE(ABORT, 'full'); END`)
  await store('p', { target: 'lxc:101' })

  const job = await start({ target: 'lxc:101', plan: 'p' })
  await expect.poll(() => app.lines().filter((line) => line.includes('full')).length).toBeGreaterThan(0)
  expect(await read(`/api/updates/jobs/${job}`)).toMatchObject({ status: 'running', outcome: null })

  await app.db.script('DROP TRIGGER full')
  await ended(job)
  expect(await toldNames(app.db)).toEqual(['upgrade_done lxc:101'])
})

test('another instance that repeats the statements of an end adds no event, and none before the end', async () => {
  const { app, upgrade } = await world({ notes: notes({ outcome: 'upgraded' }) })
  const { job_id } = await upgrade()
  const row = await findJob(app.db, String(job_id))
  if (!row) throw new Error('the job is missing')
  const ended = {
    db: app.db,
    row,
    code: 0,
    cancelled: false,
    at: '2026-03-01T13:00:00.000Z',
    notes: notes({ outcome: 'regressed' }),
  }
  const repeat = async () => {
    const { statements } = await upgradeJob.result(JSON.parse(row.args), ended)
    await app.db.batch(statements)
  }

  await repeat()
  expect(await toldNames(app.db)).toEqual(['upgrade_done lxc:101'])

  await app.db.script(`DELETE FROM notification_events; UPDATE jobs SET status = 'running'`)
  await repeat()
  expect(await told(app.db)).toEqual([])
  await app.db.script(`UPDATE jobs SET status = 'success', epoch = epoch + 1`)
  await repeat()
  expect(await told(app.db)).toEqual([])
})

test('a done upgrade tells how many packages its plan had, and how many for security', async () => {
  const { app, store, start, ended } = await world({
    notes: notes({ upgraded: 0 }, { compared: [] }, { outcome: 'upgraded' }),
  })
  await store('p', { target: 'lxc:101' })
  await app.db.run('UPDATE plans SET actions = ?', [
    JSON.stringify([{ security: true }, { security: false }, { security: true }]),
  ])
  await ended(await start({ target: 'lxc:101', plan: 'p' }))

  expect(await told(app.db)).toMatchObject([{ event: 'upgrade_done', details: { packages: 3, security: 2 } }])
})

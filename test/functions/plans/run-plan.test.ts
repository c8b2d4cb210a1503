import { expect, test } from 'vitest'
import * as z from 'zod'
import { readCheck } from '../../../db/checks.ts'
import { checkOf } from '../../../functions/checks/check.ts'
import { RUN_CODES } from '../../../functions/managers/agreement.ts'
import { plannedCommand } from '../../../functions/plans/plan-command.ts'
import { PLANNED } from '../../../functions/plans/plan-script.ts'
import { START } from '../../../jobs/script.ts'
import { START as NOW } from '../../app.ts'
import { audited, refused, rows } from '../answers.ts'
import { differing, HASH, HOUR, known, planApp, SELECTION } from './plan-host.ts'

const RUN = '/api/updates/run'

test.each([
  ['host', 'host', 'root', ['sh', '-c', PLANNED]],
  ['lxc:101', '101', 'rule', ['sudo', '-n', '/usr/sbin/pct', 'exec', '101']],
  ['lxc:101', '101', 'helper', ['sudo', '-n', '--', '/usr/sbin/ops-panel-host', 'planned', '101', HASH]],
] as const)('a plan of %s runs with its hash and its choice, %s under %s', async (target, place, elevation, begins) => {
  const { app, store, start, ended } = await planApp({ elevation })
  await store('p', { target })

  await ended(await start({ target, plan: 'p' }))

  const command = plannedCommand(place, { hash: HASH, take: [], selection: SELECTION }, elevation)
  expect(command.slice(0, begins.length)).toEqual(begins)
  const launched = app.ran.find(({ command: [, , text] }) => text === START)?.command
  expect(launched?.slice(-command.length)).toEqual(command)
})

test('a plan runs once: its job is named, and a second run changes nothing', async () => {
  const { app, store, send, start, read, ended } = await planApp()
  await store('p')

  const job_id = await start({ target: 'host', plan: 'p' })

  await refused(await send('POST', RUN, { target: 'host', plan: 'p' }), 409, 'plan_used')
  expect(await read('/api/updates/plans/p')).toMatchObject({ state: 'used', job_id })
  expect(await ended(job_id)).toMatchObject({ plan_id: 'p', run_id: null, plan_difference: null, status: 'success' })
  expect(await rows(app.db, 'SELECT id FROM jobs')).toHaveLength(1)
  expect(await audited(app.db)).toMatchObject([
    { action: 'update_start', target: 'host', details: { job_id, plan: 'p', hash: HASH } },
  ])
})

test('of many runs of one plan at the same moment one starts', async () => {
  const { app, store, send } = await planApp({ isBusy: true })
  await store('p')

  const answers = await Promise.all(Array.from({ length: 10 }, () => send('POST', RUN, { target: 'host', plan: 'p' })))

  expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(9).fill(409)])
  expect(await rows(app.db, 'SELECT plan_id FROM jobs')).toEqual([{ plan_id: 'p' }])
  expect(await audited(app.db)).toHaveLength(1)
})

test('a plan of another target, an expired one and a missing one start nothing', async () => {
  const { app, store, send, read } = await planApp()
  await store('p', { target: 'lxc:101' })

  await refused(await send('POST', RUN, { target: 'host', plan: 'p' }), 422, 'plan_of_another_target')
  await refused(await send('POST', RUN, { target: 'host', plan: 'none' }), 404, 'plan_missing')
  app.advance(HOUR - 1)
  expect(await read('/api/updates/plans/p')).toMatchObject({ state: 'current' })
  app.advance(1)
  await refused(await send('POST', RUN, { target: 'lxc:101', plan: 'p' }), 410, 'plan_expired')

  expect(await read('/api/updates/plans/p')).toMatchObject({ state: 'expired', job_id: null })
  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
  expect(app.ran).toEqual([])
})

test.each([[5], [null], [['p']]])(
  '%j is no plan: the plan is to blame, unless the target is wrong too',
  async (plan) => {
    const { app, send } = await planApp()

    const { details } = await refused(await send('POST', RUN, { target: 'host', plan }), 400, 'invalid_request')
    await refused(await send('POST', RUN, { plan }), 400, 'target_missing')
    await refused(await send('POST', RUN, { target: '', plan }), 400, 'target_missing')

    expect(details).toEqual([{ field: 'plan', message: expect.stringMatching(/^Entrée invalide/) }])
    expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
    expect(await audited(app.db)).toEqual([])
  },
)

test('a plan that the bounds keep from starting is not used up', async () => {
  const { store, send, start, read } = await planApp({ isBusy: true })
  for (const id of ['a', 'b', 'c', 'd']) await store(id)
  for (const plan of ['a', 'b', 'c']) await start({ target: 'host', plan })

  await refused(await send('POST', RUN, { target: 'host', plan: 'd' }), 429, 'queue_full')

  expect(await read('/api/updates/plans/d')).toMatchObject({ state: 'current', job_id: null })
})

test('a changed plan ends in error with the difference, and its output stays', async () => {
  const text = differing('upgrade app:amd64 1.0 2.1', 'remove old:amd64 3 -', 'nonsense', 'upgrade two words:x 1 2 3')
  const { store, start, ended } = await planApp({ code: RUN_CODES.differs, text })
  await store('p')

  const record = await ended(await start({ target: 'host', plan: 'p' }))

  expect(record).toMatchObject({
    status: 'error',
    error_code: 'plan_changed',
    exit_code: RUN_CODES.differs,
    plan_difference: [
      { name: 'app:amd64', planned: 'upgrade 1.0 2.0', found: 'upgrade 1.0 2.1' },
      { name: 'libnew:amd64', planned: 'install - 1.1', found: null },
      { name: 'old:amd64', planned: null, found: 'remove 3 -' },
    ],
  })
  expect(record.output).toBe(
    `${text}Ce qui allait être fait n’est plus ce que le plan annonçait : rien n’a été changé. Faites un nouveau plan.`,
  )
})

test('a package that apt would install once more is told, and so is a protocol of apt that the hook does not know', async () => {
  const differenceOf = async (...lines: string[]) => {
    const { store, start, ended } = await planApp({ code: RUN_CODES.differs, text: differing(...lines) })
    await store('p', { actions: JSON.stringify([known({ name: 'app', to: '1.0' }), known({ name: 'lib' })]) })
    return (await ended(await start({ target: 'host', plan: 'p' }))).plan_difference
  }

  expect(await differenceOf('upgrade app:amd64 1.0 1.0', 'reinstall lib:amd64 1.0 1.0', 'reinstall x:all 1 1')).toEqual(
    [
      { name: 'lib:amd64', planned: 'upgrade 1.0 2.0', found: 'reinstall 1.0 1.0' },
      { name: 'x:all', planned: null, found: 'reinstall 1 1' },
    ],
  )
  expect(await differenceOf('unknown format')).toEqual([
    { name: 'DPkg::Pre-Install-Pkgs', planned: null, found: 'unknown format' },
  ])
})

test('a long difference is cut, in the record and further in the list, and what the target prints cannot steer a reader', async () => {
  const many = Array.from({ length: 5_000 }, (_, n) => `upgrade p${n}\u202e:all 1 ${'9'.repeat(300)}`)
  const { store, start, read, ended } = await planApp({ code: RUN_CODES.differs, text: differing(...many) })
  await store('p')

  const { plan_difference } = await ended(await start({ target: 'host', plan: 'p' }))

  const differences = z.array(z.looseObject({ found: z.string().nullable() })).parse(plan_difference)
  expect(differences).toHaveLength(1_000)
  expect(differences.at(-1)?.found).toHaveLength(200)
  expect(JSON.stringify(differences)).not.toContain('\u202e')
  const listed = z.object({ jobs: z.tuple([z.looseObject({ plan_difference: z.array(z.unknown()) })]) })
  expect(listed.parse(await read('/api/updates/jobs')).jobs[0].plan_difference).toEqual(differences.slice(0, 20))
})

test('the same exit code without a plan is an ordinary failure, and another one of a plan too', async () => {
  const without = await planApp({ code: RUN_CODES.differs, text: differing('upgrade a:all 1 2') })
  const failed = await planApp({ code: 100, text: differing('upgrade a:all 1 2') })
  await failed.store('p')

  const ended = await without.ended(await without.start({ target: 'host' }))
  const other = await failed.ended(await failed.start({ target: 'host', plan: 'p' }))

  for (const record of [ended, other])
    expect(record).toMatchObject({ status: 'success', error_code: null, plan_difference: null })
})

test('after a changed plan the target is as it was, and its last upgrade says so', async () => {
  const { app, store, start, ended } = await planApp({ code: RUN_CODES.differs, text: differing() })
  const summary = { manager: 'apt', os: null, counts: {}, findings: [], reboot: {}, services: [] }
  const counts = { upgrade: 1, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 }
  const whole = { ...summary, counts, download_bytes: null, disk_bytes: null, reboot: { required: null, reasons: [] } }
  const at = NOW.toISOString()
  await app.db.run(
    `INSERT INTO checks (target, name, status, checked_at, lists_at, summary) VALUES ('host', '', 'running', ?, ?, ?)`,
    [at, at, JSON.stringify(whole)],
  )
  await store('p')
  app.advance(60_000)

  const job_id = await start({ target: 'host', plan: 'p' })
  await ended(job_id)

  const row = await readCheck(app.db, 'host')
  expect(row && checkOf(row, [], NOW)).toMatchObject({
    state: 'ready',
    changed_at: null,
    last_upgrade: { job_id, outcome: 'plan_changed' },
  })
})

import { expect, test } from 'vitest'
import { MOST_COMPARED } from '../../../functions/plans/conffile-scripts.ts'
import { plannedCommand } from '../../../functions/plans/plan-command.ts'
import { PLAN } from '../../../functions/plans/plan-script.ts'
import { protectedCommand } from '../../../functions/protection/protected-run.ts'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { NAMES_LENGTH, planHash } from '../../../functions/plans/plan.ts'
import { startCommands } from '../../../jobs/host-job.ts'
import { elevate, quote } from '../../../ssh/command.ts'
import { START as NOW } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { HOUR, known, planApp } from './plan-host.ts'
import { checked, ONE, simulation } from './simulated.ts'

const PLANS = '/api/updates/plans'

test('a plan names exactly what would change, with the hash of its lines, for an hour', async () => {
  const all = await planApp({ simulated: { stdout: ONE } })
  await checked(all, { target: 'lxc:101' })

  const made = await answered(await all.send('POST', PLANS, { target: 'lxc:101' }), 201)

  expect(made).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    target: 'lxc:101',
    hash: planHash(['upgrade app:amd64 1.0 2.0']),
    made_at: NOW.toISOString(),
    made_by: 'bob',
    expires_at: new Date(NOW.getTime() + HOUR).toISOString(),
    only: 'all',
    packages: null,
    exclude: [],
    allow_remove: false,
    actions: [{ name: 'app', arch: 'amd64', from: '1.0', to: '2.0', action: 'upgrade', status: 'planned' }],
    counts: { upgrade: 1, install: 0, remove: 0 },
    findings: [],
    protection: null,
    state: 'current',
    job_id: null,
  })
  const [row] = await rows(all.app.db, 'SELECT id FROM plans')
  expect(await all.read(`${PLANS}/${row?.id}`)).toEqual(made)
  expect(await audited(all.app.db)).toEqual([])
  await refused(await all.send('GET', `${PLANS}/none`), 404, 'plan_missing')
})

test.each([
  ['root', 'host', 'command', ['sh', '-c', PLAN]],
  ['rule', 'host', 'none', ['sh', '-c', PLAN]],
  ['password', 'lxc:101', 'command', ['/usr/sbin/pct', 'exec', '101', '--', 'sh', '-c', PLAN]],
] as const)('under %s the simulation of %s runs with the rights %s', async (elevation, target, rights, begins) => {
  const all = await planApp({ elevation, simulated: { stdout: ONE } })

  await answered(
    await all.send('POST', PLANS, { target, only: 'security', packages: ['app', 'bash', 'app'], exclude: ['bash'] }),
    201,
  )

  const [ran] = all.app.ran
  expect(ran?.rights).toBe(rights)
  expect(ran?.command).toEqual([...begins, 'ops-panel-plan', 'security', 'keep', 'these', 'app'])
})

test('a plan says of which choice it is', async () => {
  const all = await planApp({ simulated: { stdout: ONE } })
  const of = async (choice: object) => answered(await all.send('POST', PLANS, { target: 'host', ...choice }), 201)

  expect(await of({ packages: ['app', 'lib', 'app'], exclude: ['lib'], only: 'security' })).toMatchObject({
    only: 'security',
    packages: ['app'],
    exclude: ['lib'],
    allow_remove: false,
  })
  expect(await of({ exclude: ['lib:i386', 'lib:i386'], allow_remove: true })).toMatchObject({
    only: 'all',
    packages: null,
    exclude: ['lib:i386'],
    allow_remove: true,
  })
})

test('the security marks and vulnerabilities of the last check are those of the same change', async () => {
  const all = await planApp({ simulated: { stdout: ONE } })
  const cves = [{ id: 'CVE-2026-1', urgency: 'high', known_exploited: true }]
  const fix = { name: 'app', security: true, cves }
  await checked(all, { packages: [known({ ...fix, to: '1.5', cves: [] }), known({ ...fix, to: '2.0' })] })

  expect(await answered(await all.send('POST', PLANS, { target: 'host' }), 201)).toMatchObject({
    actions: [{ name: 'app', security: true, cves }],
    counts: { security: 1 },
  })
})

test('a stopped container, one without apt, and an unreachable one are different refusals', async () => {
  const stopped = await planApp({ simulated: { code: 255, stderr: 'container 101 not running\n' } })
  await checked(stopped, { target: 'lxc:101', status: 'stopped' })
  const without = await planApp({ simulated: { stdout: 'manager apk\n' } })
  const failing = await planApp({ simulated: { code: 2, stderr: 'Configuration file does not exist\n' } })

  const ask = async ({ send }: typeof stopped) => (await send('POST', PLANS, { target: 'lxc:101' })).json()
  expect(await ask(stopped)).toMatchObject({ code: 'plan_impossible', findings: [{ code: 'container_stopped' }] })
  expect(await ask(without)).toMatchObject({ code: 'plan_impossible', findings: [{ code: 'manager_missing' }] })
  expect(await ask(failing)).toMatchObject({ code: 'ssh_failed' })
})

test('a container that was stopped after its last check has no plan for that reason', async () => {
  const stopped = await planApp({
    simulated: { code: 255, stderr: "container '101' not running!\n" },
    state: 'stopped',
  })
  await checked(stopped, { target: 'lxc:101', status: 'running' })

  const answer = await stopped.send('POST', PLANS, { target: 'lxc:101' })

  expect([answer.status, await answer.json()]).toMatchObject([
    422,
    { code: 'plan_impossible', findings: [{ code: 'container_stopped', severity: 'blocking' }] },
  ])
})

test('nothing to change is no plan, and a choice of nothing does not ask the host', async () => {
  const all = await planApp({ simulated: { stdout: simulation({}) } })

  await refused(
    await all.send('POST', PLANS, { target: 'host', packages: ['app'], exclude: ['app'] }),
    409,
    'plan_empty',
  )
  expect(all.app.ran).toEqual([])
  await refused(await all.send('POST', PLANS, { target: 'host' }), 409, 'plan_empty')

  expect(await rows(all.app.db, 'SELECT id FROM plans')).toEqual([])
})

test.each([
  [{ target: 'all' }, 'target_invalid'],
  [{ target: 'lxc:' }, 'target_invalid'],
  [{ target: 'host', packages: [] }, 'invalid_request'],
  [{ target: 'host', packages: ['a b'] }, 'invalid_request'],
  [{ target: 'host', exclude: ['-o'] }, 'invalid_request'],
  [{ target: 'host', only: 'some' }, 'invalid_request'],
])('%j is refused, and nothing runs', async (body, code) => {
  const { app, send } = await planApp()

  await refused(await send('POST', PLANS, body), 400, code)

  expect(app.ran).toEqual([])
})

/** That many different names of packages, of 200 characters each. */
const longNames = (count: number) =>
  Array.from({ length: count }, (_, n) => String(n).padStart(4, '0').padEnd(200, 'x'))

test('the names of a choice are bounded in number and in their characters, and a command of all of them fits', async () => {
  const { app, send } = await planApp({ simulated: { stdout: ONE } })

  const { details } = await refused(
    await send('POST', PLANS, { target: 'host', packages: longNames(200), exclude: longNames(1) }),
    400,
    'invalid_request',
  )
  await refused(await send('POST', PLANS, { target: 'host', exclude: Array(901).fill('app') }), 400, 'invalid_request')
  expect(app.ran).toEqual([])
  await answered(await send('POST', PLANS, { target: 'host', exclude: longNames(200) }), 201)

  expect(details?.map(({ field }) => field)).toEqual(['exclude'])
  // As many names as there may be take the most room, with a space each.
  const exclude = [...longNames(900).map((name) => name.slice(0, 44)), 'x'.repeat(NAMES_LENGTH - 900 * 44)]
  const selection = { only: 'security', packages: null, exclude, allow_remove: true } as const
  const take = Array.from({ length: MOST_COMPARED }, (_, n) => `/etc/${String(n).padEnd(394, 'x')}`)
  // Linux takes no longer argument than 128 KiB, and sshd gives a command as one.
  for (const elevation of ['root', 'password', 'rule', 'helper'] as const) {
    const planned = plannedCommand('999999999', { hash: 'a'.repeat(64), take, selection }, elevation)
    const place = { id: '999999999', name: 'panel-1772366400-k3x9q2pa', elevation }
    const words = { kind: 'command' as const, command: Array(4).fill("'".repeat(500)) }
    const units = Array(9).fill({ kind: 'unit', name: '\\'.repeat(190) })
    const policy = { ...DEFAULT_PROTECTION, before: 'backup', backup_storage: 'x'.repeat(100) } as const
    const probes = elevation === 'helper' ? units : [words, ...units]
    const prepared = protectedCommand(place, { ...policy, probes }, planned)
    const commands = startCommands({ name: 'a'.repeat(32), mostOutput: 2 ** 40 }, prepared)
    for (const command of commands)
      expect(Buffer.byteLength(quote(elevate(command, elevation, 'script')))).toBeLessThan(131_072)
  }
})

test('two simulations of a user run at a time', async () => {
  const { app, send } = await planApp()
  const waiting: (() => void)[] = []
  app.services.host.exec = () =>
    new Promise((resolve) => waiting.push(() => resolve({ code: 0, stdout: simulation({}), stderr: '' })))

  const answers = Promise.all(Array.from({ length: 3 }, (_, n) => send('POST', PLANS, { target: `lxc:${101 + n}` })))

  await expect.poll(() => waiting.length).toBe(2)
  waiting[0]?.()
  await expect.poll(() => waiting.length).toBe(3)
  for (const go of waiting) go()
  expect((await answers).map(({ status }) => status)).toEqual([409, 409, 409])
})

test('the plans of a user are bounded in number and size, and the plan of a running job stays', async () => {
  const all = await planApp({ isBusy: true })
  await all.store('running')
  await all.start({ target: 'host', plan: 'running' })
  for (let n = 0; n < 310; n += 1) await all.store(`p${n}`)
  await all.store('of-another', { made_by: 'alice' })

  const ids = (await rows(all.app.db, 'SELECT id FROM plans ORDER BY rowid')).map(({ id }) => id)
  expect(ids).toHaveLength(302)
  expect(ids.slice(0, 2)).toEqual(['running', 'p10'])

  const big = JSON.stringify('x'.repeat(9_000_000))
  const each = [{ actions: big }, { conffiles: big }, { selection: big }, { findings: big }, { selection: big }]
  for (const [n, own] of each.entries()) await all.store(`big${n}`, own)
  const left = (await rows(all.app.db, 'SELECT id FROM plans ORDER BY rowid')).map(({ id }) => id)
  expect(left.filter((id) => String(id).startsWith('big'))).toEqual(['big2', 'big3', 'big4'])
  expect(left).toContain('of-another')
  expect(left).toContain('running')
})

test('a plan that expired a day ago is removed when the next one is made, a used one is not', async () => {
  const all = await planApp({ simulated: { stdout: ONE } })
  await all.store('unused')
  await all.store('used')
  await all.ended(await all.start({ target: 'host', plan: 'used' }))
  all.app.advance(25 * HOUR + 1)

  await answered(await all.send('POST', PLANS, { target: 'host' }), 201)

  const ids = (await rows(all.app.db, 'SELECT id FROM plans ORDER BY rowid')).map(({ id }) => id)
  expect(ids).toEqual(['used', expect.any(String)])
})

import { expect, test } from 'vitest'
import { findingOf } from '../../../functions/findings/finding.ts'
import { PLAN } from '../../../functions/plans/plan-script.ts'
import { planHash } from '../../../functions/plans/plan.ts'
import { START as NOW } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'
import { HOUR, planApp } from './plan-host.ts'

const PLANS = '/api/updates/plans'

/** The output of `PLAN` with these simulated changes. */
function simulation({ planned = [], offered = [], installed = [], code = 0, disk = [] }: Simulated): string {
  const sections = { unfinished: [], planned: [...planned, `code ${code}`], offered, installed, disk }
  const texts = Object.entries(sections).map(
    ([name, lines]) => `${name}\n${lines.map((line) => ` ${line}\n`).join('')}\n`,
  )
  return `manager apt-get\n${texts.join('')}end\n`
}

interface Simulated {
  planned?: string[]
  offered?: string[]
  installed?: string[]
  disk?: string[]
  code?: number
}

const APP = 'Inst app [1.0] (2.0 Debian:12.15/oldstable [amd64])'
const SSHD = 'Inst openssh-server [1:9.2] (1:9.3 Debian-Security:12/oldstable-security [amd64])'
const ONE = simulation({ planned: [APP], offered: ['app amd64 2.0 1000 40 app'], installed: ['app amd64 36 app 1.0'] })

/** Stores a check of a target with these findings and packages. */
async function checked(
  { app }: Awaited<ReturnType<typeof planApp>>,
  { target = 'host', findings = [], packages = [], status = 'running' }: Checked,
) {
  const counts = { upgrade: 1, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 }
  const sizes = { download_bytes: null, disk_bytes: null }
  const rest = { reboot: { required: null, reasons: [] }, services: [] }
  const summary = { manager: 'apt', os: null, counts, ...sizes, findings, ...rest }
  await app.db.run(
    `INSERT INTO checks (target, vmid, name, status, checked_at, lists_at, summary, packages) VALUES (?, ?, '', ?, ?, ?, ?, ?)`,
    [
      target,
      target === 'host' ? null : Number(target.slice(4)),
      status,
      NOW.toISOString(),
      NOW.toISOString(),
      JSON.stringify(summary),
      JSON.stringify(packages),
    ],
  )
}

interface Checked {
  target?: string
  findings?: object[]
  packages?: object[]
  status?: string
}

test('a plan names exactly what would change, with the hash of its lines, for an hour', async () => {
  const all = await planApp({ simulated: { stdout: ONE } })

  const made = await answered(await all.send('POST', PLANS, { target: 'lxc:101' }), 201)

  expect(made).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    target: 'lxc:101',
    hash: planHash(['upgrade app:amd64 1.0 2.0']),
    made_at: NOW.toISOString(),
    made_by: 'bob',
    expires_at: new Date(NOW.getTime() + HOUR).toISOString(),
    only: 'all',
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

test('the security marks and vulnerabilities of the last check are those of the same change', async () => {
  const all = await planApp({ simulated: { stdout: ONE } })
  const cves = [{ id: 'CVE-2026-1', urgency: 'high', known_exploited: true }]
  const known = { name: 'app', arch: 'amd64', security: true, cves }
  await checked(all, {
    packages: [
      { ...known, to: '1.5', cves: [] },
      { ...known, to: '2.0' },
    ],
  })

  expect(await answered(await all.send('POST', PLANS, { target: 'host' }), 201)).toMatchObject({
    actions: [{ name: 'app', security: true, cves }],
    counts: { security: 1 },
  })
})

test('a plan repeats what the last check found to stand in the way, and says what the panel stands on', async () => {
  const all = await planApp({ simulated: { stdout: simulation({ planned: [APP, SSHD] }) } })
  const repository = 'http://mirror/debian stable'
  await checked(all, {
    findings: [
      findingOf('repository_unreachable', { repository }),
      findingOf('conffile_changed', { packages: ['app'] }),
      findingOf('conffile_changed', { packages: ['other'] }),
      findingOf('held', { packages: ['curl'] }),
      findingOf('dependencies_broken'),
    ],
  })

  const onHost = await answered(await all.send('POST', PLANS, { target: 'host' }), 201)
  const inContainer = await answered(await all.send('POST', PLANS, { target: 'lxc:101' }), 201)

  expect(onHost).toMatchObject({
    findings: [
      { code: 'repository_unreachable', repository },
      { code: 'conffile_changed', packages: ['app'] },
      { code: 'self_impact', severity: 'warning', packages: ['openssh-server'] },
    ],
  })
  expect(inContainer).toMatchObject({ findings: [] })
})

test.each([
  ['openssh-server', true],
  ['pve-container', true],
  ['proxmox-backup-client', true],
  ['lxc-pve', true],
  ['ops-panel', true],
  ['proxmox-kernel-6.8', false],
  ['pve-firmware', false],
  ['libc6', false],
  ['systemd', false],
  ['openssh-client', false],
])('the panel stands on %s of the host: %j', async (name, stands) => {
  const planned = [`Inst ${name} [1] (2 Debian:12.15/oldstable [amd64])`]
  const all = await planApp({ simulated: { stdout: simulation({ planned }) } })

  const made = await answered(await all.send('POST', PLANS, { target: 'host' }), 201)

  expect(made).toMatchObject({ findings: stands ? [{ code: 'self_impact', packages: [name] }] : [] })
})

test('a plan that a finding forbids is refused with the findings, and not stored', async () => {
  const all = await planApp({ simulated: { stdout: ONE } })
  await checked(all, { findings: [findingOf('root_read_only')] })

  const answer = await all.send('POST', PLANS, { target: 'host' })

  expect(await answered(answer, 422)).toMatchObject({
    code: 'plan_impossible',
    findings: [{ code: 'root_read_only', severity: 'blocking' }],
  })
  expect(await rows(all.app.db, 'SELECT id FROM plans')).toEqual([])
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
  [{ target: 'host', exclude: Array(901).fill('app') }, 'invalid_request'],
  [{ target: 'host', only: 'some' }, 'invalid_request'],
])('%j is refused, and nothing runs', async (body, code) => {
  const { app, send } = await planApp()

  await refused(await send('POST', PLANS, body), 400, code)

  expect(app.ran).toEqual([])
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

  for (let n = 0; n < 5; n += 1) await all.store(`big${n}`, { actions: `["${'x'.repeat(9_000_000)}"]` })
  const left = (await rows(all.app.db, 'SELECT id FROM plans ORDER BY rowid')).map(({ id }) => id)
  expect(left.slice(-3)).toEqual(['big2', 'big3', 'big4'])
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

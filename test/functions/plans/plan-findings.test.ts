import { expect, test } from 'vitest'
import { findingOf } from '../../../functions/findings/finding.ts'
import { answered, refused, rows } from '../answers.ts'
import { known, planApp } from './plan-host.ts'
import { APP, checked, ONE, simulation } from './simulated.ts'

const PLANS = '/api/updates/plans'
const SSHD = 'Inst openssh-server [1:9.2] (1:9.3 Debian-Security:12/oldstable-security [amd64])'
const NOTHING = simulation({})

async function planned(stdout: string, check?: Parameters<typeof checked>[1]) {
  const all = await planApp({ simulated: { stdout } })
  if (check) await checked(all, check)
  const ask = async (body: object = {}) => all.send('POST', PLANS, { target: 'host', ...body })
  return { ...all, ask, made: async (body: object = {}) => answered(await ask(body), 201) }
}

test('a plan repeats what the last check found to stand in the way, and says what the panel stands on', async () => {
  const all = await planApp({
    simulated: { stdout: simulation({ planned: [APP, SSHD], conffiles: ['app /etc/app.conf'] }) },
  })
  const repository = 'http://mirror/debian stable'
  await checked(all, {
    findings: [
      findingOf('repository_unreachable', { repository }),
      findingOf('conffile_changed', { packages: ['other'] }),
      findingOf('dependencies_broken'),
    ],
  })
  await checked(all, { target: 'lxc:101' })

  const onHost = await answered(await all.send('POST', PLANS, { target: 'host' }), 201)
  const inContainer = await answered(await all.send('POST', PLANS, { target: 'lxc:101' }), 201)

  expect(onHost).toMatchObject({
    findings: [
      { code: 'conffile_changed', packages: ['app'] },
      { code: 'repository_unreachable', repository },
      { code: 'self_impact', severity: 'warning', packages: ['openssh-server'] },
    ],
  })
  expect(inContainer).toMatchObject({ findings: [{ code: 'conffile_changed' }] })
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
  const { made } = await planned(simulation({ planned: [`Inst ${name} [1] (2 Debian:12.15/oldstable [amd64])`] }), {})

  expect(await made()).toMatchObject({ findings: stands ? [{ code: 'self_impact', packages: [name] }] : [] })
})

test('a plan that a finding forbids is refused with the findings, and not stored', async () => {
  const { app, ask } = await planned(ONE, { findings: [findingOf('root_read_only')] })

  expect(await answered(await ask(), 422)).toMatchObject({
    code: 'plan_impossible',
    findings: [{ code: 'root_read_only', severity: 'blocking' }],
  })
  expect(await rows(app.db, 'SELECT id FROM plans')).toEqual([])
})

test('a plan tells what the last check left alone, in its counts and as remarks', async () => {
  const { made, read } = await planned(
    simulation({
      planned: [APP, 'Inst engine [1.0] (2.0 D:1/s [amd64])', 'Remv old [1.0]'],
      installed: ['old amd64 1 old 1.0'],
    }),
    {
      findings: [
        findingOf('kept_back_remove', { packages: ['engine', 'waits'], message: 'Supprime old.' }),
        findingOf('kept_back_install', { packages: ['app'] }),
        findingOf('kept_back_dependencies', { packages: ['stuck'] }),
        findingOf('held', { packages: ['curl', 'idle'] }),
        findingOf('phased', { packages: ['tzdata'] }),
      ],
      packages: [
        known({ name: 'app' }),
        known({ name: 'engine', status: 'kept_back', reason: 'kept_back_remove' }),
        known({ name: 'old', action: 'remove', to: null, status: 'kept_back', reason: 'kept_back_remove' }),
        known({ name: 'waits', status: 'kept_back', reason: 'kept_back_remove' }),
        known({ name: 'stuck', status: 'kept_back', reason: 'kept_back_dependencies' }),
        known({ name: 'curl', status: 'held', reason: 'held' }),
        known({ name: 'tzdata', status: 'phased', reason: 'phased' }),
      ],
    },
  )

  const plan = await made({ allow_remove: true })

  expect(plan).toMatchObject({
    counts: { upgrade: 2, remove: 1, held: 1, phased: 1, kept_back: 2 },
    findings: [
      { code: 'kept_back_remove', severity: 'info', packages: ['waits'], message: 'Supprime old.' },
      { code: 'kept_back_dependencies', severity: 'info', packages: ['stuck'] },
      { code: 'held', severity: 'info', packages: ['curl', 'idle'], remedy: { action: 'lift_hold' } },
      { code: 'phased', severity: 'info', packages: ['tzdata'] },
    ],
  })
  expect(await read(`${PLANS}/${Object(plan).id}`)).toEqual(plan)
})

test('a list of a check that is too long to read again is counted as the check counted it', async () => {
  const { made } = await planned(ONE, {
    packages: [known({ name: 'x'.repeat(5_000_000) })],
    counts: { held: 3, phased: 2, kept_back: 1 },
  })

  expect(await made()).toMatchObject({ counts: { upgrade: 1, held: 3, phased: 2, kept_back: 1 } })
})

test('a plan that an older version of the service has stored is read', async () => {
  const { store, read } = await planned(ONE)
  const [held] = [findingOf('held', { packages: ['curl'] })]
  await store('old', { findings: JSON.stringify([held]) })

  expect(await read(`${PLANS}/old`)).toMatchObject({ findings: [held], counts: { held: 0, phased: 0, kept_back: 0 } })
})

test.each([
  ['is not listed', undefined],
  ['was never checked', { hasEnded: false }],
])('the plan of a target that %s says so', async (_title, check) => {
  const { made } = await planned(ONE, check)

  expect(await made()).toMatchObject({
    findings: [
      {
        code: 'lists_stale',
        severity: 'warning',
        message: expect.stringContaining('jamais été vérifié'),
        remedy: { action: 'retry_check' },
      },
    ],
  })
})

test('nothing to do has its findings: lists that are not whole, and packages that are left alone', async () => {
  const findings = [findingOf('network_missing'), findingOf('held', { packages: ['app'] })]
  const { ask } = await planned(NOTHING, { findings })

  expect(await refused(await ask({ packages: ['app'] }), 409, 'plan_empty')).toMatchObject({ findings })
})

test('nothing to do on a target that was never checked says so', async () => {
  const { ask } = await planned(NOTHING)

  expect(await refused(await ask(), 409, 'plan_empty')).toMatchObject({ findings: [{ code: 'lists_stale' }] })
})

test.each([
  [['app'], ['app']],
  [['app:amd64'], ['app']],
  [['app:i386'], undefined],
  [['tool:all'], ['tool']],
  [['tool:amd64'], ['tool']],
  [
    ['gone', 'app', 'absent'],
    ['app', 'gone'],
  ],
])('a plan that changes a package of %j in spite of that is refused, with its name', async (exclude, packages) => {
  const { app, ask } = await planned(
    simulation({
      native: 'amd64',
      planned: [APP, 'Inst tool [1.0] (2.0 D:1/s [all])', 'Remv gone [1.0]'],
      installed: ['gone amd64 1 gone 1.0'],
    }),
    {},
  )

  const answer = await ask({ exclude })

  if (packages === undefined) return void (await answered(answer, 201))
  expect(await refused(answer, 422, 'plan_impossible')).toMatchObject({
    findings: [{ code: 'kept_back_dependencies', severity: 'blocking', packages }],
  })
  expect(await rows(app.db, 'SELECT id FROM plans')).toEqual([])
})

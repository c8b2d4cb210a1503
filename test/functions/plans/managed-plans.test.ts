import { expect, test } from 'vitest'
import { managerText } from '../../../functions/managers/managed-scripts.ts'
import { MANAGED_PLAN, MANAGED_PLANNED, plannedCommand } from '../../../functions/plans/plan-command.ts'
import { planHash } from '../../../functions/plans/plan.ts'
import { PLAN, PLANNED } from '../../../functions/plans/plan-script.ts'
import { START } from '../../../jobs/script.ts'
import { answered, refused, rows } from '../answers.ts'
import { APP, NEW, planned } from '../managers/inspected.ts'
import { differing, planApp } from './plan-host.ts'

const PLANS = '/api/updates/plans'
const OTHER = { stdout: 'manager dnf\n' }
const LINES = ['install libnew:x86_64 - 1.1-3', 'upgrade app:noarch 1.0-1 1:2.0-1']
const HASH = planHash(LINES)
const DNF = { simulated: OTHER, managed: { stdout: planned({ planned: [APP, NEW, 'code|0'] }) } }

test('a target that has another manager than apt is asked once more with the functions of that one', async () => {
  const { app, send } = await planApp(DNF)

  const plan = await answered(await send('POST', PLANS, { target: 'lxc:111', only: 'security' }), 201)

  expect(plan).toMatchObject({
    manager: 'dnf',
    hash: HASH,
    actions: [{ name: 'app', security: true, origin: 'rig', size: 4096 }, { name: 'libnew' }],
    counts: { upgrade: 1, security: 1, install: 1 },
    download_bytes: 5120,
    conffiles: [],
  })
  const texts = app.ran.map(({ command }) => command.find((word) => word.length > 1_000))
  expect(texts).toEqual([PLAN, `${managerText('dnf')}${MANAGED_PLAN}`])
  expect(app.ran.every(({ command }) => command.slice(-4).join(' ') === 'ops-panel-plan security keep every')).toBe(
    true,
  )
})

test('its run has the hash and the functions of the manager of the plan', async () => {
  const { app, send, start, ended } = await planApp(DNF)
  const { id } = Object(await answered(await send('POST', PLANS, { target: 'lxc:111' }), 201))

  expect(await ended(await start({ target: 'lxc:111', plan: id }))).toMatchObject({ status: 'success' })

  const selection = { only: 'all', packages: null, exclude: [], allow_remove: false, manager: 'dnf' } as const
  const command = plannedCommand('111', { hash: HASH, take: [], selection }, 'root')
  expect(command).toContain(`${managerText('dnf')}${MANAGED_PLANNED}`)
  const launched = app.ran.find(({ command: [, , text] }) => text === START)?.command
  expect(launched?.slice(-command.length)).toEqual(command)
  expect(launched).not.toContain(PLANNED)
})

test.each([
  [
    65,
    'plan_changed',
    'plan_changed',
    [{ name: 'app:noarch', planned: 'upgrade 1.0-1 1:2.0-1', found: 'upgrade 1.0-1 3' }],
  ],
  [75, 'plan_not_begun', 'failed', null],
  [70, 'plan_unbound', 'failed', null],
] as const)('the exit code %i of its run is %s', async (code, error, outcome, difference) => {
  const text = differing('install libnew:x86_64 - 1.1-3', 'upgrade app:noarch 1.0-1 3')
  const { send, start, ended } = await planApp({ ...DNF, code, text })
  const { id } = Object(await answered(await send('POST', PLANS, { target: 'host' }), 201))

  const job = await ended(await start({ target: 'host', plan: id }))

  expect(job).toMatchObject({ status: 'error', error_code: error, outcome, plan_difference: difference })
})

test('a selection that the manager cannot make gives no plan, with the reason', async () => {
  const managed = { stdout: planned({ planned: ['unsupported', 'code|0'] }, 'pacman') }
  const { app, send } = await planApp({ simulated: { stdout: 'manager pacman\n' }, managed })

  const body = await refused(await send('POST', PLANS, { target: 'host', packages: ['app'] }), 422, 'plan_impossible')

  expect(body).toMatchObject({
    findings: [
      {
        code: 'selection_unsupported',
        severity: 'blocking',
        message: 'pacman met toujours tout à jour ensemble : une partie seulement laisserait un système incohérent.',
      },
      { code: 'lists_stale' },
    ],
  })
  expect(await rows(app.db, 'SELECT id FROM plans')).toEqual([])
})

test.each([
  ['half an answer', planned({ planned: [APP] })],
  ['no answer', ''],
  ['no manager at all', 'manager none\n'],
])('%s gives no plan', async (_title, stdout) => {
  const { app, send } = await planApp({ simulated: OTHER, managed: { stdout } })

  await refused(await send('POST', PLANS, { target: 'host' }), 422, 'plan_impossible')

  expect(await rows(app.db, 'SELECT id FROM plans')).toEqual([])
})

test.each([
  [
    'system "Rocky Linux 9.4 (Blue Onyx)"\nothers yum microdnf',
    'Rocky Linux 9.4 (Blue Onyx) n’a que microdnf, avec lequel rien ne peut être prévu ni vérifié : installez dnf.',
  ],
  ['system CentOS Linux 7 (Core)\nothers yum', 'CentOS Linux 7 (Core) n’a que yum, avec lequel'],
  ['system NixOS 24.05 (Uakari)\nothers nixos-rebuild', 'NixOS 24.05 (Uakari) se met à jour par nixos-rebuild, que'],
  ['others', 'Linux n’a aucun gestionnaire de paquets que le panneau connaît : '],
  [`system \u001b[2J${'x'.repeat(900)}\nothers ../x`, ` [2J${'x'.repeat(190)}`],
])('a plan for a system without a known manager names it and what is missing: %j', async (told, message) => {
  const { send } = await planApp({ simulated: { stdout: `manager none\n${told}\n` } })

  const { findings } = Object(await refused(await send('POST', PLANS, { target: 'host' }), 422, 'plan_impossible'))

  expect(findings).toHaveLength(1)
  expect(findings).toMatchObject([
    { code: 'manager_missing', severity: 'blocking', message: expect.stringContaining(message) },
  ])
})

test('names of rpm packages can be chosen, and words that are no names cannot', async () => {
  const { send } = await planApp(DNF)
  const of = (packages: string[]) => send('POST', PLANS, { target: 'host', packages })

  await answered(await of(['NetworkManager', 'python3_x', 'libstdc++:x86_64', 'R']), 201)
  for (const name of ['-app', 'a b', 'a;b', 'a/b', 'a:b:c', 'a\nb', 'é', '*'])
    await refused(await of([name]), 400, 'invalid_request')
})

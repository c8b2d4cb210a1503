import { expect, test } from 'vitest'
import * as z from 'zod'
import { findingOf, REMEDIES } from '../../../functions/findings/finding.ts'
import remedies from '../../../functions/checks/remedies.post.ts'
import { ALLOW, CLEAN, MANUAL, REPAIR, UNHOLD } from '../../../functions/checks/remedy-scripts.ts'
import { Summary } from '../../../functions/checks/check.ts'
import history from '../../../functions/jobs/history.get.ts'
import { START } from '../../../jobs/script.ts'
import type { Elevation } from '../../../ssh/command.ts'
import { START as NOW, testApp } from '../../app.ts'
import { answered, audited, refused } from '../answers.ts'
import { jobHost } from '../jobs/job-host.ts'

const FINDINGS = {
  held: findingOf('held', { packages: ['curl', 'g++', `x; touch /owned`] }),
  changed: findingOf('repository_changed', { repository: 'http://m/debian stable' }),
  changedToo: findingOf('repository_changed', { repository: 'http://other/debian' }),
  disk: findingOf('disk_low', { remedy: REMEDIES.CLEAN }),
  interrupted: findingOf('dpkg_interrupted'),
  broken: findingOf('dependencies_broken', { packages: ['app', 'lib'] }),
  stale: findingOf('lists_stale'),
  unattended: findingOf('other_upgrader'),
  cron: findingOf('other_upgrader', { remedy: REMEDIES.TERMINAL }),
}

const NO_COUNTS = { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 }

/** The app with a stored check of the host and of two containers, 101 that runs and 102 that does not. */
async function checked(
  found: (keyof typeof FINDINGS)[],
  { elevation = 'root', template = 0, removed = [] }: Given = {},
) {
  const app = await testApp([remedies, history], { fake: { ...jobHost({}), elevation } })
  const summary = Summary.parse({
    manager: 'apt',
    os: null,
    counts: NO_COUNTS,
    download_bytes: null,
    disk_bytes: null,
    findings: found.map((name) => FINDINGS[name]),
    reboot: { required: null, reasons: [] },
    services: [],
  })
  const held = { name: 'libc6', arch: 'i386', from: '1', to: '2', action: 'upgrade', origin: null, security: false }
  const details = { size: null, source: null, cves: [] }
  const packages = [
    { ...held, ...details, status: 'held', reason: 'held' },
    ...removed.map((name) => ({
      ...held,
      ...details,
      name,
      to: null,
      action: 'remove',
      status: 'kept_back',
      reason: 'kept_back_dependencies',
    })),
  ]
  for (const [target, vmid, status] of [
    ['host', null, 'running'],
    ['lxc:101', 101, 'running'],
    ['lxc:102', 102, 'stopped'],
  ] as const) {
    await app.db.run(
      `INSERT INTO checks (target, vmid, name, status, template, checked_at, lists_at, summary, packages)
       VALUES (?, ?, '', ?, ?, ?, ?, ?, ?)`,
      [
        target,
        vmid,
        status,
        template,
        NOW.toISOString(),
        NOW.toISOString(),
        JSON.stringify(summary),
        JSON.stringify(packages),
      ],
    )
  }
  const ask = (body: object, as: 'user' | 'admin' = 'admin') =>
    app.request('POST', '/api/updates/remedies', { as, body })
  /** The command of the job that this request starts. */
  const command = async (body: object) => {
    const answer = z.looseObject({ job_id: z.string() }).parse(await answered(await ask(body), 202))
    const started = () => app.ran.find(({ command: [, , text] }) => text === START)
    await expect.poll(started).toBeDefined()
    // Behind the start script: its name, the runner, the job's name and the bytes of output.
    return { ...answer, command: started()?.command.slice(8) }
  }
  return { app, ask, command }
}

interface Given {
  elevation?: Elevation
  template?: 0 | 1
  /** The packages that a simulated repair removes. */
  removed?: string[]
}

const UNHELD = ['curl', 'g++', 'libc6']

test.each([
  ['repair_dpkg', 'interrupted', 'repair', REPAIR, []],
  ['allow_release_change', 'changed', 'allow', ALLOW, ['http://m/debian stable']],
  ['lift_hold', 'held', 'unhold', UNHOLD, UNHELD],
  ['clean_cache', 'disk', 'clean', CLEAN, []],
  ['disable_auto_upgrades', 'unattended', 'manual', MANUAL, []],
] as const)('%s runs in the target under every elevation', async (action, found, verb, text, args) => {
  const name = `ops-panel-${verb}`
  const inside = ['/usr/sbin/pct', 'exec', '101', '--', 'sh', '-c', text, name, '', ...args]
  const helper = ['sudo', '-n', '--', '/usr/sbin/ops-panel-host', verb]
  for (const [elevation, onHost, inContainer] of [
    ['root', ['sh', '-c', text, name, '', ...args], inside],
    ['password', ['sh', '-c', text, name, '', ...args], inside],
    ['rule', ['sh', '-c', text, name, 'sudo -n', ...args], ['sudo', '-n', ...inside]],
    ['helper', [...helper, 'host', ...args], [...helper, '101', ...args]],
  ] as const) {
    const host = await checked([found], { elevation })
    expect(await host.command({ target: 'host', action })).toMatchObject({ command: onHost })
    const container = await checked([found], { elevation })
    expect(await container.command({ target: 'lxc:101', action })).toMatchObject({ command: inContainer })
  }
})

test.each([
  ['lift_hold', 'held', { held_before: JSON.stringify(UNHELD), held_after: '[]' }],
  ['allow_release_change', 'changed', { repositories: '["http://m/debian stable"]' }],
  ['repair_dpkg', 'broken', { removable: '["app"]' }],
  ['clean_cache', 'disk', {}],
] as const)('the audit log has what %s changes', async (action, found, change) => {
  const { app, command } = await checked([found], { removed: ['app', '-o'] })

  const { job_id } = await command({ target: 'host', action })

  expect(await audited(app.db)).toMatchObject([{ action: 'remedy_start', target: 'host' }])
  expect((await audited(app.db))[0]?.details).toEqual({ job_id, action, ...change })
})

test('a repair may remove only the packages whose removal the check has shown', async () => {
  const repair = { target: 'host', action: 'repair_dpkg' }
  const shown = await checked(['broken'], { removed: ['app', '-o'] })
  const notShown = await checked(['broken'])

  expect((await shown.command(repair)).command).toEqual(['sh', '-c', REPAIR, 'ops-panel-repair', '', 'app'])
  expect((await notShown.command(repair)).command).toEqual(['sh', '-c', REPAIR, 'ops-panel-repair', ''])
})

test.each([
  ['root', ['/usr/sbin/pct', 'start', '102']],
  ['rule', ['sudo', '-n', '/usr/sbin/pct', 'start', '102']],
  ['helper', ['sudo', '-n', '--', '/usr/sbin/ops-panel-host', 'start', '102']],
] as const)(
  'a stopped container is started under %s, and nothing else can be done with it',
  async (elevation, expected) => {
    const { ask, command } = await checked(['interrupted', 'held', 'stale'], { elevation })
    for (const action of ['repair_dpkg', 'lift_hold', 'retry_check'])
      await refused(await ask({ target: 'lxc:102', action }), 422, 'remedy_unknown')

    expect(await command({ target: 'lxc:102', action: 'start_container' })).toMatchObject({ command: expected })
  },
)

test('neither a template nor a running container nor the host can be started', async () => {
  const running = await checked(['stale'])
  for (const target of ['lxc:101', 'host', 'lxc:999'])
    await refused(await running.ask({ target, action: 'start_container' }), 422, 'remedy_unknown')
  const template = await checked([], { template: 1 })

  await refused(await template.ask({ target: 'lxc:102', action: 'start_container' }), 422, 'remedy_unknown')
  expect(template.app.ran).toEqual([])
})

test('lines of cron are left to people', async () => {
  const { app, ask } = await checked(['cron'])

  for (const action of ['disable_auto_upgrades', 'open_terminal'])
    await refused(await ask({ target: 'host', action }), 422, 'remedy_unknown')
  expect(app.ran).toEqual([])
})

test('a retry is a check of the target, with an audit entry; the same check answers a second request', async () => {
  const { app, ask } = await checked(['stale'])
  app.services.host.stream = () => new Promise(() => {})
  const retry = async () => answered(await ask({ target: 'host', action: 'retry_check' }), 202)
  const { job_id } = z.looseObject({ job_id: z.string() }).parse(await retry())

  expect(await retry()).toMatchObject({ job_id })
  expect(await audited(app.db)).toMatchObject([
    { action: 'remedy_start', target: 'host', details: { job_id, action: 'retry_check' } },
  ])
  const kinds = await app.db.query(z.object({ kind: z.string() }), 'SELECT kind FROM jobs')
  expect(kinds).toEqual([{ kind: 'check' }])
})

test('every changed repository is accepted unless one is named, and only those that the check found', async () => {
  const all = await checked(['changed', 'changedToo'])
  const { command } = await all.command({ target: 'host', action: 'allow_release_change' })
  expect(command?.slice(5)).toEqual(['http://m/debian stable', 'http://other/debian'])
  const one = await checked(['changed', 'changedToo'])
  const named = { target: 'host', action: 'allow_release_change', repository: 'http://other/debian' }
  expect((await one.command(named)).command?.slice(5)).toEqual(['http://other/debian'])

  const unknown = await checked(['changed', 'held'])
  for (const repository of ['http://evil/debian', '', 'http://m/debian'])
    await refused(await unknown.ask({ ...named, repository }), 422, 'remedy_unknown')
  expect(unknown.app.ran).toEqual([])
})

test.each([[['curl']], [['libc6']], [['libc6:i386', 'g++']]])('the hold of %j alone is lifted', async (packages) => {
  const { command } = await checked(['held'])

  expect((await command({ target: 'host', action: 'lift_hold', packages })).command?.slice(5)).toEqual(packages)
})

test.each([[['bash']], [['curl', 'bash']], [['x; touch /owned']], [['libc6:amd64']], [[]], [['-x']]])(
  'the hold of %j cannot be lifted: the check has not found it, or it is no package',
  async (packages) => {
    const { app, ask } = await checked(['held'])

    await refused(await ask({ target: 'host', action: 'lift_hold', packages }), 422, 'remedy_unknown')
    expect(app.ran).toEqual([])
    expect(await audited(app.db)).toEqual([])
  },
)

test.each([
  'repair_dpkg',
  'allow_release_change',
  'lift_hold',
  'clean_cache',
  'disable_auto_upgrades',
  'retry_check',
  'open_terminal',
])('%s is refused without such a finding, and for users who are no administrators', async (action) => {
  const { app, ask } = await checked([])
  await refused(await ask({ target: 'host', action }), 422, 'remedy_unknown')
  const all = await checked(['held', 'changed', 'disk', 'interrupted', 'stale', 'unattended'])

  await refused(await all.ask({ target: 'host', action }, 'user'), 403, 'forbidden')
  expect([...app.ran, ...all.app.ran]).toEqual([])
})

test('remedies wait for upgrades of the same target', async () => {
  const { app, command } = await checked(['disk'])
  await command({ target: 'lxc:101', action: 'clean_cache' })

  expect(await app.db.query(z.object({ queue: z.string() }), 'SELECT queue FROM jobs')).toEqual([{ queue: 'lxc/101' }])
})

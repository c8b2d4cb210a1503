import { expect, test } from 'vitest'
import * as z from 'zod'
import { Summary } from '../../../functions/checks/check.ts'
import checkOfTarget from '../../../functions/checks/check.get.ts'
import job from '../../../functions/jobs/job.get.ts'
import { outdatedOf } from '../../../functions/restarts/outdated-services.ts'
import { RESTART } from '../../../functions/restarts/restart-script.ts'
import restarts from '../../../functions/restarts/restarts.post.ts'
import { START } from '../../../jobs/script.ts'
import type { Elevation } from '../../../ssh/command.ts'
import { START as NOW, testApp } from '../../app.ts'
import { answered, audited, refused } from '../answers.ts'
import { jobHost } from '../jobs/job-host.ts'

const LINES = [
  'service nginx 812 libssl3 /usr/lib/x86_64-linux-gnu/libssl.so.3',
  'service ssh 90 libcrypto3 /usr/lib/x86_64-linux-gnu/libcrypto.so.3',
  'service dbus 88 libc6 /usr/lib/x86_64-linux-gnu/libc.so.6',
  'process node 14 - /opt/app/a.so',
  'session alice 15 libc6 /usr/lib/x86_64-linux-gnu/libc.so.6',
]

/** The time of the stored checks. */
const BEFORE = new Date(NOW.getTime() - 60_000).toISOString()

/** The app with a stored check of the host, of container 101, and of container 102, which has stopped since. */
async function checked(lines: readonly string[] = LINES, elevation: Elevation = 'root', code = 0) {
  const app = await testApp([restarts, checkOfTarget, job], { fake: { ...jobHost({ code }), elevation } })
  for (const [target, vmid, status] of [
    ['host', null, 'running'],
    ['lxc:101', 101, 'running'],
    ['lxc:102', 102, 'stopped'],
  ] as const) {
    const summary = Summary.parse({
      ...{ manager: 'apt', os: null, download_bytes: null, disk_bytes: null, findings: [] },
      counts: { upgrade: 0, security: 0, install: 0, remove: 0, held: 0, phased: 0, kept_back: 0 },
      reboot: { required: null, reasons: [] },
      services: outdatedOf(lines, vmid === null ? 'host' : 'container'),
    })
    await app.db.run(
      `INSERT INTO checks (target, vmid, name, status, checked_at, lists_at, summary, packages)
       VALUES (?, ?, '', ?, ?, ?, ?, '[]')`,
      [target, vmid, status, BEFORE, BEFORE, JSON.stringify(summary)],
    )
  }
  const ask = (target: string, services: unknown, as: 'user' | 'admin' = 'admin') =>
    app.request('POST', '/api/updates/restarts', { as, body: { target, services } })
  return { app, ask }
}

const Started = z.object({ job_id: z.string(), message: z.string() })

test.each([
  ['root', 'host', ['sh', '-c', RESTART, 'ops-panel-restart', '', 'nginx', 'ssh']],
  ['rule', 'host', ['sh', '-c', RESTART, 'ops-panel-restart', 'sudo -n', 'nginx', 'ssh']],
  ['helper', 'host', ['sudo', '-n', '--', '/usr/sbin/ops-panel-host', 'restart', 'host', 'nginx', 'ssh']],
  ['helper', 'lxc:101', ['sudo', '-n', '--', '/usr/sbin/ops-panel-host', 'restart', '101', 'nginx', 'ssh']],
  [
    'rule',
    'lxc:101',
    [
      ...['sudo', '-n', '/usr/sbin/pct', 'exec', '101', '--'],
      ...['sh', '-c', RESTART, 'ops-panel-restart', '', 'nginx', 'ssh'],
    ],
  ],
] as const)('under %s, services of %s are restarted there, with an audit entry', async (elevation, target, command) => {
  const { app, ask } = await checked(LINES, elevation)

  const { job_id } = Started.parse(await answered(await ask(target, ['nginx', 'ssh.service', 'nginx']), 202))
  const started = () => app.ran.find(({ command: [, , text] }) => text === START)
  await expect.poll(started).toBeDefined()

  // Behind the start script: its name, the runner, the job's name and the bytes of output.
  expect(started()?.command.slice(8)).toEqual(command)
  expect(await audited(app.db)).toMatchObject([
    { action: 'restart_start', target, details: { job_id, services: 'nginx ssh' } },
  ])
})

test.each([
  ['dbus', 'service_protected', /D-Bus/],
  ['dbus.service', 'service_protected', /D-Bus/],
  ['systemd-logind', 'service_protected', /systemd/],
  ['lxcfs', 'service_protected', /conteneurs/],
  ['docker', 'service_protected', /conteneurs/],
  ['cron', 'service_unknown', /cron/],
  ['node', 'service_unknown', /node/],
  ['alice', 'service_unknown', /alice/],
  ['--root=/tmp', 'service_unknown', /--root/],
  ['$(id)', 'service_unknown', /id/],
] as const)(
  '%s is refused beside a service that may be restarted, and nothing begins',
  async (name, code, sentence) => {
    const { app, ask } = await checked()

    for (const target of ['host', 'lxc:101']) {
      const error = await refused(await ask(target, ['nginx', name]), 422, code)
      expect(JSON.stringify(error)).toMatch(sentence)
    }
    expect(app.ran).toEqual([])
  },
)

test('a service that a hostile container lists under an odd name is never offered', async () => {
  const { ask } = await checked(['service a;reboot 1 - /usr/lib/a.so', 'service -H 1 - /usr/lib/a.so'])

  for (const name of ['a;reboot', '-H']) await refused(await ask('lxc:101', [name]), 422, 'service_unknown')
})

test('a target without a check, a stopped container, all targets and another user are refused', async () => {
  const { ask } = await checked()

  await refused(await ask('lxc:999', ['nginx']), 422, 'service_unknown')
  await refused(await ask('lxc:102', ['nginx']), 422, 'service_unknown')
  await refused(await ask('all', ['nginx']), 400, 'target_invalid')
  await refused(await ask('host', ['nginx'], 'user'), 403, 'forbidden')
  await refused(await ask('host', []), 400, 'invalid_request')
  await refused(await ask('host', Array(51).fill('nginx')), 400, 'invalid_request')
})

const Ended = z.looseObject({ kind: z.string(), status: z.string(), exit_code: z.number().nullable() })

test.each([
  [0, 'host', { status: 'success', exit_code: 0, error_code: null }],
  [1, 'host', { status: 'success', exit_code: 1, error_code: null }],
  [77, 'host', { status: 'error', exit_code: 77, error_code: 'systemctl_not_allowed' }],
  [77, 'lxc:101', { status: 'success', exit_code: 77, error_code: null }],
])(
  'a restart that ends with %d on %s is a job of its kind, and its target has to be checked again',
  async (code, target, end) => {
    const { app, ask } = await checked(LINES, 'rule', code)
    const get = async (path: string) => (await app.request('GET', path, { as: 'admin' })).json()
    const { job_id } = Started.parse(await answered(await ask(target, ['nginx']), 202))

    const ended = async () => Ended.parse(await get(`/api/updates/jobs/${job_id}`))
    await expect.poll(ended).toMatchObject({ kind: 'restart', ...end })
    expect(await get(`/api/updates/checks/${target}`)).toMatchObject({ changed_at: expect.any(String) })
  },
)

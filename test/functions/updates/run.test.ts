import { expect, test } from 'vitest'
import * as z from 'zod'
import { latestJobs } from '../../../db/job-list.ts'
import { findJob } from '../../../db/jobs.ts'
import { StorageError } from '../../../db/libsql/database.ts'
import { saveUser } from '../../../db/users.ts'
import history from '../../../functions/jobs/history.get.ts'
import { upgrade } from '../../../functions/updates/apt.ts'
import run from '../../../functions/runs/run.post.ts'
import { RUN } from '../../../jobs/runner.ts'
import { START } from '../../../jobs/script.ts'
import { SshError } from '../../../ssh/connection.ts'
import { START as NOW, testApp } from '../../app.ts'
import { bearerOf } from '../../bearer.ts'
import { DEFAULT_PROTECTION } from '../../../functions/protection/protection.ts'
import { answered, audited, refused, rows, sealWithAnotherKey } from '../answers.ts'
import { jobHost, jobScripts, settled } from '../jobs/job-host.ts'

const PATH = '/api/updates/run'
const JOB_ID = /^1772366400-[a-z0-9]{8}$/

const Started = z.strictObject({ job_id: z.string().regex(JOB_ID), message: z.string() })

const LISTING = `VMID       Status     Lock         Name
101        running                 web
102        stopped                 db
`

/** The app with a host on which a started job never answers. */
async function busyApp() {
  const app = await testApp([run, history])
  app.services.host.exec = () => new Promise(() => {})
  return app
}

test('a job is accepted with its id and a French message, and nothing else', async () => {
  const app = await testApp([run, history], { fake: jobHost({}) })

  const answer = await answered(await app.request('POST', PATH, { as: 'user', body: { target: 'host' } }), 202)

  expect(Started.parse(answer).message).toBe('Mise à jour lancée.')
  await settled(app)
})

test('the job is recorded as running, with its user, before it does anything', async () => {
  const app = await busyApp()
  await app.tokenFor('admin')

  const answer = await answered(await app.request('POST', PATH, { as: 'user', body: { target: 'lxc:101' } }), 202)

  const { job_id } = Started.parse(answer)
  expect(await rows(app.db, 'SELECT id, target, status, started_at, finished_at, started_by FROM jobs')).toEqual([
    {
      id: job_id,
      target: 'lxc:101',
      status: 'running',
      started_at: NOW.toISOString(),
      finished_at: null,
      started_by: 2,
    },
  ])
  expect(await answered(await app.request('GET', '/api/updates/history', { as: 'user' }), 200)).toEqual([
    { job_id, target: 'lxc:101', status: 'running', output: '', started_at: NOW.toISOString() },
  ])
})

test('the start is audited with the target and the user', async () => {
  const app = await busyApp()

  const answer = await answered(
    await app.request('POST', PATH, { as: 'user', from: '203.0.113.9', body: { target: 'all' } }),
    202,
  )

  expect(await audited(app.db)).toEqual([
    {
      at: NOW.toISOString(),
      action: 'update_start',
      user_id: 1,
      username: 'bob',
      target: 'all',
      ip: '203.0.113.9',
      details: { job_id: Started.parse(answer).job_id },
    },
  ])
})

test('two jobs started at the same moment have ids of their own', async () => {
  const app = await busyApp()
  const start = async (target: string) =>
    Started.parse(await answered(await app.request('POST', PATH, { as: 'user', body: { target } }), 202)).job_id

  expect(await start('host')).not.toBe(await start('lxc:101'))
})

test.each([
  ['host', upgrade({ scope: 'host' }, '')],
  ['lxc:101', upgrade({ scope: 'container', id: '101' }, '')],
  [`lxc:1'; reboot #`, upgrade({ scope: 'container', id: `1'; reboot #` }, '')],
  ['lxc:$(reboot)\n-x', upgrade({ scope: 'container', id: '$(reboot)\n-x' }, '')],
])('the job of %j is one script whose arguments stay apart', async (target, command) => {
  const app = await testApp([run, history], { fake: jobHost({}) })

  const answer = await answered(await app.request('POST', PATH, { as: 'user', body: { target } }), 202)
  await settled(app)

  const { job_id } = Started.parse(answer)
  const folder = (await findJob(app.db, job_id))?.folder ?? ''
  const started = app.ran.find(({ command: [, , text] }) => text === START)
  // A program gives the script the functions of every package manager, which are too long for an argument.
  const [shell, option, start, name, runner, place, most, program, ...words] = started?.command ?? []
  expect([shell, option, start, name, runner, place, most]).toEqual([
    ...['sh', '-c', START, 'ops-panel-job', RUN, folder],
    String(64 * 1024 * 1024),
  ])
  expect(program).toMatch(/^[0-9a-f]{64}-\d+$/)
  expect(words.slice(-command.length - 1)).toEqual(['sh', ...command])
  expect(started?.rights).toBe('script')
  // Every account of the host can list folders and command lines, and a client with the id may watch the job.
  expect(folder).toMatch(/^[0-9a-f]{32}$/)
  expect(JSON.stringify(app.ran)).not.toContain(job_id)
  expect(jobScripts(app).slice(0, 2)).toEqual([
    { script: 'start', rights: 'script' },
    { script: 'follow', rights: 'script' },
  ])
})

test.each([
  ['root', ''],
  ['sudo', ''],
  ['password', ''],
  ['rule', 'sudo -n'],
  ['helper', 'sudo -n -- /usr/sbin/ops-panel-host'],
] as const)('with elevation %s', async (elevation, sudo) => {
  const app = await testApp([run, history], { fake: { ...jobHost({}), elevation } })

  await app.request('POST', PATH, { as: 'user', body: { target: 'host' } })
  await settled(app)

  // Only where sudo allows single commands does the script itself call sudo.
  const command = upgrade({ scope: 'host' }, sudo)
  expect(app.ran.find(({ command: [, , text] }) => text === START)?.command.slice(-command.length)).toEqual(command)
})

test('all upgrades every listed container, including stopped ones, and never the host', async () => {
  const app = await testApp([run, history], { fake: jobHost({ list: { stdout: LISTING } }) })

  await app.request('POST', PATH, { as: 'user', body: { target: 'all' } })
  await settled(app)

  expect(app.ran[0]).toEqual({ command: ['/usr/sbin/pct', 'list'], rights: 'command' })
  const command = upgrade({ scope: 'all', ids: ['101', '102'] }, '')
  const started = app.ran.find(({ command: [, , text] }) => text === START)
  expect(started?.command.slice(-command.length)).toEqual(command)
})

test('all of an empty listing succeeds', async () => {
  const app = await testApp([run, history], { fake: jobHost({}) })

  await app.request('POST', PATH, { as: 'user', body: { target: 'all' } })

  expect(await settled(app)).toMatchObject([{ target: 'all', status: 'success', output: '' }])
})

test('all with a failed listing ends in error, and nothing starts', async () => {
  const list = { code: 2, stderr: 'ipcc_send_rec failed\nUnable to load access control list\n' }
  const app = await testApp([run, history], { fake: jobHost({ list }) })

  await answered(await app.request('POST', PATH, { as: 'user', body: { target: 'all' } }), 202)

  expect(await settled(app)).toMatchObject([
    {
      target: 'all',
      status: 'error',
      output: 'Erreur SSH : Unable to load access control list',
      finished_at: NOW.toISOString(),
    },
  ])
  expect(jobScripts(app)).toEqual([])
})

test('an unreachable host ends the job in error', async () => {
  const app = await testApp([run, history], {
    fake: {
      exec() {
        throw new SshError('unreachable', 'connect ECONNREFUSED 192.0.2.1:22')
      },
    },
  })

  await answered(await app.request('POST', PATH, { as: 'user', body: { target: 'host' } }), 202)

  expect(await settled(app)).toMatchObject([
    { status: 'error', output: 'Erreur SSH : connect ECONNREFUSED 192.0.2.1:22', finished_at: NOW.toISOString() },
  ])
})

test.each(['nonsense', 'lxc:', 'HOST', 'host ', '[]'])(
  'the invalid target %j is accepted, audited, ends in error without an event, and nothing runs',
  async (target) => {
    const app = await testApp([run, history])
    const body = { target }

    const answer = await answered(await app.request('POST', PATH, { as: 'user', body }), 202)

    const { job_id } = Started.parse(answer)
    expect(await settled(app)).toEqual([
      {
        job_id,
        target,
        status: 'error',
        output: `Cible invalide : ${target}`,
        started_at: NOW.toISOString(),
        finished_at: NOW.toISOString(),
      },
    ])
    expect(await audited(app.db)).toMatchObject([{ action: 'update_start', target }])
    expect(app.ran).toEqual([])
  },
)

test.each([65, 1_000_000])('a target of %i characters is 400, and nothing of it is stored', async (length) => {
  const app = await testApp([run, history])

  const body = { target: `lxc:${'1'.repeat(length - 4)}` }
  const { error } = await refused(await app.request('POST', PATH, { as: 'user', body }), 400, 'target_invalid')

  expect(error).toBe(`Cible invalide : ${body.target.slice(0, 80)}${length > 80 ? '…' : ''}`)
  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
  expect(await audited(app.db)).toEqual([])
  expect(app.ran).toEqual([])
})

test('a fourth job of one user for one container gives 429 with the reason and the wait, and is not audited', async () => {
  const app = await busyApp()
  // Other texts for the same container have its queue.
  const start = (target: string) => app.request('POST', PATH, { as: 'user', body: { target } })
  for (const target of ['lxc:101', 'lxc:0101', 'lxc:00101']) expect((await start(target)).status).toBe(202)

  const answer = await start('lxc:000101')

  expect(answer.headers.get('retry-after')).toBe('30')
  const { error } = await refused(answer, 429, 'queue_full')
  expect(error).toMatch(
    /^Trop de tâches .* au plus 3 par utilisateur pour une même cible, 10 par utilisateur, 50 en tout/,
  )
  expect(await audited(app.db)).toHaveLength(3)
  expect((await app.request('POST', PATH, { as: 'admin', body: { target: 'lxc:000101' } })).status).toBe(202)
})

test('a target with a NUL, which no argument can contain, is invalid too, and nothing runs', async () => {
  const app = await testApp([run, history])

  await answered(await app.request('POST', PATH, { as: 'user', body: { target: 'lxc:1\0' } }), 202)

  expect(await settled(app)).toMatchObject([{ target: 'lxc:1\0', status: 'error', output: 'Cible invalide : lxc:1\0' }])
  expect(app.ran).toEqual([])
})

test.each([0, 100])('a completed stream is a success, also when the command ended with code %s', async (code) => {
  const text = 'Reading package lists...\r\nÇa y est ✓\n'
  const app = await testApp([run, history], { fake: jobHost({ text, code }) })

  await app.request('POST', PATH, { as: 'user', body: { target: 'host' } })

  expect(await settled(app)).toMatchObject([{ status: 'success', output: text, finished_at: NOW.toISOString() }])
})

test('subscribers receive the output and the end; of an invalid target, only the end of the topic', async () => {
  const received: unknown[] = []
  const app = await testApp([run, history], { fake: jobHost({ text: 'line\n' }) })
  const { hub, host, db } = app.services
  const exec = host.exec.bind(host)
  const ids: string[] = []
  // The first command of the job is the earliest moment to listen.
  host.exec = async (command, options) => {
    const [job] = await latestJobs(db, { kind: 'upgrade', limit: 1 })
    if (job && ids.length === 0) {
      const { id } = job
      ids.push(id)
      hub.subscribe(`update:${id}`, {
        deliver: ({ bytes }) => received.push(JSON.parse(bytes.toString())),
        finish: (frame) => received.push(frame && JSON.parse(frame.bytes.toString())),
      })
    }
    return exec(command, options)
  }

  await app.request('POST', PATH, { as: 'user', body: { target: 'host' } })
  await settled(app)

  const topic = `update:${ids[0]}`
  expect(received).toEqual([
    { type: 'update_output', topic, seq: 5, data: { chunk: 'line\n' } },
    { type: 'update_done', topic, seq: 5, data: { job_id: ids[0] } },
  ])
})

test.each([
  ['nothing', '', 'invalid_json'],
  ['half a document', '{"target":', 'invalid_json'],
  ['no target', {}, 'target_missing'],
  ['an empty target', { target: '' }, 'target_missing'],
  ['null for a target', { target: null }, 'target_missing'],
  ['a number for a target', { target: 101 }, 'target_missing'],
  ['a list', [], 'target_missing'],
] as const)('a body with %s gives 400, and creates no job', async (_, body, code) => {
  const app = await testApp([run])

  await refused(await app.request('POST', PATH, { as: 'user', body }), 400, code)

  expect(await rows(app.db, 'SELECT * FROM jobs')).toEqual([])
  expect(await audited(app.db)).toEqual([])
  expect(app.ran).toEqual([])
})

test.each([
  ['host', { host: '' }],
  ['user', { username: '' }],
  ['password', { password: '' }],
])('without an SSH %s the answer is 503, after the body is read, and no job is created', async (_, ssh) => {
  const app = await testApp([run], { ssh })

  await refused(await app.request('POST', PATH, { as: 'user', body: { target: 'host' } }), 503, 'ssh_incomplete')
  await refused(await app.request('POST', PATH, { as: 'user', body: { target: 'nonsense' } }), 503, 'ssh_incomplete')
  await refused(await app.request('POST', PATH, { as: 'user', body: {} }), 400, 'target_missing')
  await refused(await app.request('POST', PATH, { as: 'user', body: '{' }), 400, 'invalid_json')

  expect(await rows(app.db, 'SELECT * FROM jobs')).toEqual([])
  expect(await audited(app.db)).toEqual([])
  expect(app.ran).toEqual([])
})

test('a password that another key has sealed gives 503, and creates no job', async () => {
  const app = await testApp([run])
  await sealWithAnotherKey(app.db)

  const answer = await app.request('POST', PATH, { as: 'user', body: { target: 'host' } })

  const { error } = await refused(answer, 503, 'ssh_password_unreadable')
  expect(error).toMatch(/^Le mot de passe ou la clé SSH enregistrés ne peuvent pas être déchiffrés/)
  expect(await rows(app.db, 'SELECT * FROM jobs')).toEqual([])
  expect(await audited(app.db)).toEqual([])
  expect(app.ran).toEqual([])
})

test('a job that cannot be recorded gives 500 and does not start', async () => {
  const app = await testApp([run])
  const authorization = `Bearer ${await app.tokenFor('user')}`
  await app.db.script('ALTER TABLE jobs RENAME TO gone')

  const answer = await app.request('POST', PATH, { headers: { authorization }, body: { target: 'host' } })

  await refused(answer, 500, 'storage_failed')
  expect(app.ran).toEqual([])
  expect(await audited(app.db)).toEqual([])
})

test('a job whose start cannot be audited does not start', async () => {
  const app = await testApp([run], { fake: jobHost({}) })
  await app.db.script('ALTER TABLE audit RENAME TO gone')

  await refused(await app.request('POST', PATH, { as: 'user', body: { target: 'host' } }), 500, 'storage_failed')

  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
  expect(app.ran).toEqual([])
})

test('the end of a job is recorded unchanged when the database fails for a moment', async () => {
  const app = await testApp([run, history], { fake: jobHost({ text: 'done\n' }) })
  const { db } = app.services
  const write = db.batch.bind(db)
  let failures = 2
  db.batch = async (statements) => {
    if (statements.some(({ sql }) => sql.includes('SET status')) && failures > 0) {
      failures -= 1
      throw new StorageError('database is locked')
    }
    return write(statements)
  }

  await app.request('POST', PATH, { as: 'user', body: { target: 'host' } })

  await expect.poll(() => settled(app), { timeout: 5_000 }).toMatchObject([{ status: 'success', output: 'done\n' }])
  expect(failures).toBe(0)
})

test('the token of a deleted user starts nothing: 404', async () => {
  const app = await testApp([run])
  const headers = { authorization: `Bearer ${await app.tokenFor('user')}` }
  await app.db.run('DELETE FROM users')

  await refused(await app.request('POST', PATH, { headers, body: { target: 'host' } }), 404, 'profile_missing')

  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
  expect(await audited(app.db)).toEqual([])
})

test('only administrators give a run its own protection, whose probes may be commands', async () => {
  const app = await testApp([run], { fake: jobHost({ text: 'done\n' }) })
  const probes = [{ kind: 'command', command: ['id'] }]
  const body = { target: 'lxc:101', protection: { ...DEFAULT_PROTECTION, probes } }

  await refused(await app.request('POST', PATH, { as: 'user', body }), 403, 'forbidden')

  expect(app.ran).toEqual([])
  expect((await app.request('POST', PATH, { as: 'admin', body })).status).toBe(202)
})

test('a protection of its own needs a recent proof, which no API token has; any other run needs none', async () => {
  const app = await testApp([run], { fake: jobHost({ text: 'done\n' }) })
  const { id } = await saveUser(app.db, 'alice', true, NOW.toISOString())
  const admin = bearerOf({ id, username: 'alice', isAdmin: true }, NOW)
  const old = await app.services.sessions.accessToken({ ...admin, proven: admin.proven - 901 })
  const verify = app.services.sessions.verify
  const ask = (token: string, body: object) =>
    app.request('POST', PATH, { body: { target: 'lxc:101', ...body }, headers: { authorization: `Bearer ${token}` } })
  const own = { protection: DEFAULT_PROTECTION }

  await refused(await ask(old, own), 403, 'step_up_required')
  const user = await verify(old)
  // The same administrator, by an API token.
  app.services.sessions.verify = () => user && { ...user, credential: 'token', sid: 'token:1' }
  await refused(await ask(old, own), 403, 'forbidden')
  app.services.sessions.verify = verify

  expect(app.ran).toEqual([])
  expect(await rows(app.db, 'SELECT id FROM jobs')).toEqual([])
  expect((await ask(old, {})).status).toBe(202)
})

test('the end of an upgrade is audited once, with its outcome', async () => {
  const app = await testApp([run, history], { fake: jobHost({ text: 'done\n' }) })

  await app.request('POST', PATH, { as: 'user', body: { target: 'host' } })

  await expect.poll(() => settled(app)).toMatchObject([{ status: 'success' }])
  const ends = await app.db.query(
    z.object({ details: z.string() }),
    `SELECT details FROM audit WHERE action = 'update_end'`,
  )
  expect(ends.map(({ details }): unknown => JSON.parse(details))).toMatchObject([
    { outcome: 'upgraded', regressions: 0 },
  ])
})

test.each([
  ['dnf or zypper', 'Nothing to do.\n', 'nothing_to_do'],
  ['pacman', ':: Starting full system upgrade...\n there is nothing to do\n', 'nothing_to_do'],
  [
    'a manager without one of its repositories',
    'Nothing to do.\nUpgraded, with warnings: these repositories could not be refreshed: x\n',
    'nothing_to_do',
  ],
  ['apt', '0 upgraded, 0 newly installed, 0 to remove and 2 not upgraded.\n', 'nothing_to_do'],
  ['a script of a package that was upgraded', 'Upgrading: app\nNothing to do.\nComplete!\n', 'upgraded'],
])('the summary of %s decides whether an upgrade without a plan had anything to do', async (_who, text, outcome) => {
  const app = await testApp([run, history], { fake: jobHost({ text }) })

  await app.request('POST', PATH, { as: 'user', body: { target: 'host' } })
  await expect.poll(() => settled(app)).toMatchObject([{ status: 'success' }])

  const [row] = await app.db.query(z.object({ outcome: z.string().nullable() }), 'SELECT outcome FROM jobs')
  expect(row?.outcome).toBe(outcome)
})

import { expect, test } from 'vitest'
import * as z from 'zod'
import { updateContainers } from '../../../db/checks.ts'
import { writeSettings } from '../../../db/settings.ts'
import { listAccounts } from '../../../db/access/users.ts'
import { AUTOMATIC_USER, findHostAccount, findUser, findUserByName, saveUser } from '../../../db/users.ts'
import checkDue from '../../../functions/checks/check-due.task.ts'
import { CHECK } from '../../../functions/checks/check-script.ts'
import checks from '../../../functions/checks/checks.get.ts'
import startChecks from '../../../functions/checks/checks.post.ts'
import { containerJob } from '../../../functions/hypervisor/container-job.ts'
import history from '../../../functions/jobs/history.get.ts'
import job from '../../../functions/jobs/job.get.ts'
import jobs from '../../../functions/jobs/jobs.get.ts'
import { FOLLOW, OUTPUT_MARK, START } from '../../../jobs/script.ts'
import { SshError } from '../../../ssh/connection.ts'
import { START as NOW, testApp } from '../../app.ts'
import { answered, audited, rows } from '../answers.ts'
import { bearerOf } from '../../bearer.ts'

const HOUR = 60 * 60_000
const MINUTE = 60_000
const LOOK = `os
 ID=debian
 VERSION_ID="12"

manager apt-get
update
 code 0

lists
 2

planned
 code 0

check
 code 0

upgradable
 Listing...
 code 0

end
`

/** A host whose containers, targets that answer and reachability the test sets. */
function checkHost() {
  const host = { running: [101], stopped: [102], silent: new Set<string>(), away: false, lanes: '' }
  let mark = ''
  let scope = ''
  const frame = (name: string, text: string) =>
    `${mark} ${name}\n${text.replace(/^/gm, ' ')}\n${mark} end ${name.split(' ')[0]}\n`
  const output = () => {
    const list = [
      'VMID       Status     Lock         Name',
      ...host.running.map((id) => `${id}        running                 web`),
      ...host.stopped.map((id) => `${id}        stopped                 db`),
    ]
    const looked = ['host', ...host.running.map((id) => `lxc:${id}`)].filter(
      (name) => (scope === 'all' || scope === name) && !host.silent.has(name),
    )
    return frame('list 0', `${list.join('\n')}\n`) + looked.map((name) => frame(`${name} 0`, LOOK)).join('')
  }
  return {
    host,
    exec(command: readonly string[]) {
      if (host.away) throw new SshError('unreachable', 'connexion refusée')
      const at = command.indexOf(CHECK)
      if (command[2] === START) {
        mark = at > 0 ? (command[at + 2] ?? '') : ''
        const [kind = '', id = '', lanes = ''] = command.slice(at + 4)
        scope = kind === 'container' ? `lxc:${id}` : kind
        if (at > 0) host.lanes = lanes
      }
      if (command[2] !== FOLLOW) return {}
      const text = mark === '' ? 'done\n' : output()
      return { stdout: `${OUTPUT_MARK}\n${text}`, stderr: `ops-panel exit 0 ${Buffer.byteLength(text)}\n` }
    },
  }
}

const Listed = z.object({ id: z.string(), target: z.string(), started_by: z.number() })

async function automatic({ ssh = {} }: { ssh?: { password?: string } } = {}) {
  const { host, exec } = checkHost()
  const app = await testApp([checks, startChecks, history, job, jobs], { fake: { exec }, ssh })
  const { db, services } = app
  const idle = () => expect.poll(async () => rows(db, `SELECT id FROM jobs WHERE status = 'running'`)).toEqual([])
  let seen = 0
  /** Runs the task, and returns the targets of the checks that it has started, in their order, once they have ended. */
  const run = async () => {
    await checkDue.run(services)
    await idle()
    const all = await db.query(Listed, `SELECT id, target, started_by FROM jobs WHERE kind = 'check' ORDER BY rowid`)
    const started = all.slice(seen)
    seen = all.length
    for (const { started_by } of started) expect(started_by).toBe(AUTOMATIC_USER)
    return started.map(({ target }) => target)
  }
  const read = async () =>
    z
      .looseObject({ checks: z.array(z.looseObject({})) })
      .parse(await answered(await app.request('GET', '/api/updates/checks', { as: 'user' }), 200))
  const act = async (kind: string, args: object, target: string) => {
    const { id } = await saveUser(db, 'alice', true, NOW.toISOString())
    await services.jobs.start({ kind, args, target, startedBy: id })
    await idle()
  }
  return { app, db, host, run, read, act, idle }
}

test('a new service checks all targets by itself, and each again after six hours', async () => {
  const { app, host, run, read } = await automatic()

  expect(await run()).toEqual(['all'])
  expect(await run()).toEqual([])
  expect(await read()).toMatchObject({
    automatic: true,
    checks: [
      { target: 'host', state: 'up_to_date' },
      { target: 'lxc:101', state: 'up_to_date' },
      { target: 'lxc:102', state: 'stopped' },
    ],
  })
  expect(host.lanes).toBe('6')

  app.advance(6 * HOUR - 1)
  expect(await run()).toEqual([])
  app.advance(30 * MINUTE)
  expect((await run()).sort()).toEqual(['host', 'lxc:101'])
  expect(await audited(app.db)).toEqual([])
  expect(app.lines().join('')).toContain('automatic check')
})

test('the records of an automatic check have no name, and nobody else sees or may be its user', async () => {
  const { app, db, run } = await automatic()
  await run()

  const [started] = await db.query(Listed, 'SELECT id, target, started_by FROM jobs')
  const record = await app.request('GET', `/api/updates/jobs/${started?.id}`, { as: 'user' })
  expect(await answered(record, 200)).toMatchObject({ kind: 'check', target: 'all', started_by_name: '' })
  const list = await answered(await app.request('GET', '/api/updates/jobs', { as: 'user' }), 200)
  expect(list).toMatchObject({ jobs: [{ target: 'all', started_by_name: '' }] })

  expect((await listAccounts(db, NOW.toISOString())).map(({ username }) => username)).toEqual(['bob'])
  expect(await findUser(db, AUTOMATIC_USER)).toBeUndefined()
  expect(await findUserByName(db, '')).toBeUndefined()
  expect(await findHostAccount(db, AUTOMATIC_USER)).toBeUndefined()
  await expect(saveUser(db, '', true, NOW.toISOString())).rejects.toThrow('never changed')
  const session = `INSERT INTO sessions (user_id, token_hash, expires_at, user_agent, ip, created_at) VALUES (0, 'h', 'x', '', '', 'x')`
  await expect(db.run(session)).rejects.toThrow('never signs in')
  const token = await app.services.sessions.accessToken(
    bearerOf({ id: 0, username: '', isAdmin: true }, new Date(START)),
  )
  const asNobody = await app.request('GET', '/api/updates/checks', { headers: { authorization: `Bearer ${token}` } })
  expect(asNobody.status).toBe(401)
})

test('the setting turns automatic checks off, and a person can still start one, with as many lanes as set', async () => {
  const { app, db, host, run, read, idle } = await automatic()
  await writeSettings(db, { checks_automatic: 'off', checks_parallel: '2' }, NOW.toISOString())

  expect(await run()).toEqual([])
  expect(await read()).toMatchObject({ automatic: false, vulnerabilities: { cve: null, kev: null } })
  const body = { target: 'all' }
  await answered(await app.request('POST', '/api/updates/checks', { as: 'user', body }), 202)
  await idle()
  expect(host.lanes).toBe('2')
})

test('without a service account, or with an unreadable password, nothing starts and nothing is logged', async () => {
  const { app, db, run } = await automatic({ ssh: { password: '' } })

  expect(await run()).toEqual([])
  await writeSettings(db, { ssh_password: 'v1.rubbish' }, NOW.toISOString())
  const before = app.lines().length
  expect(await run()).toEqual([])
  expect(app.lines()).toHaveLength(before)
})

test('a container is checked after its start, one that started elsewhere once a list has it running', async () => {
  const { app, db, host, run, act } = await automatic()
  await run()
  app.advance(MINUTE)

  await act(containerJob.kind, { vmid: 102, action: 'stop' }, 'lxc:102')
  expect(await run()).toEqual([])

  Object.assign(host, { running: [101, 102], stopped: [] })
  app.advance(MINUTE)
  await act(containerJob.kind, { vmid: 102, action: 'start' }, 'lxc:102')
  app.advance(MINUTE)
  expect(await run()).toEqual(['lxc:102'])
  expect(await run()).toEqual([])

  const list = (status: string) => [
    { vmid: 101, name: 'web', status },
    { vmid: 102, name: 'db', status: 'running' },
  ]
  app.advance(MINUTE)
  await updateContainers(db, list('stopped'), app.services.clock().toISOString())
  expect(await run()).toEqual([])
  app.advance(MINUTE)
  await updateContainers(db, list('running'), app.services.clock().toISOString())
  expect(await run()).toEqual(['lxc:101'])
  expect(await run()).toEqual([])
})

test('a target that gives no answer is tried again after half an hour, and an unreachable host alone', async () => {
  const { app, host, run } = await automatic()
  host.silent.add('lxc:101')
  expect(await run()).toEqual(['all'])
  app.advance(29 * MINUTE)
  expect(await run()).toEqual([])
  app.advance(MINUTE)
  expect(await run()).toEqual(['lxc:101'])

  host.away = true
  app.advance(30 * MINUTE)
  expect(await run()).toEqual(['lxc:101'])
  app.advance(30 * MINUTE)
  expect(await run()).toEqual(['host'])
  app.advance(29 * MINUTE)
  expect(await run()).toEqual([])
  app.advance(MINUTE)
  host.away = false
  host.silent.clear()
  expect(await run()).toEqual(['host'])
  expect(await run()).toEqual(['lxc:101'])
})

test('several instances that find the same target due start one check of it', async () => {
  const { app, run, db } = await automatic()

  await Promise.all([checkDue.run(app.services), checkDue.run(app.services), checkDue.run(app.services)])

  await run()
  expect(await rows(db, 'SELECT target FROM jobs')).toEqual([{ target: 'all' }])
})

import { expect, test } from 'vitest'
import { findJob } from '../../../db/jobs.ts'
import { functions } from '../../../functions/index.ts'
import type { Deployer } from '../../../modules/deploy/deployer.ts'
import { createDeployer } from '../../../modules/deploy/deployer.ts'
import { mount } from '../../app.ts'
import { recordJob } from '../../db/job.ts'
import { testForge } from '../../forge.ts'
import { audited, refused, rows } from '../answers.ts'
import { meStatus, signIn, storedSessions } from '../auth/client.ts'
import { typeCommand } from '../console.ts'
import { record, repository, temporaryFolder, withModules, writeFiles } from '../modules/module.ts'

/**
 * Starts the whole service with a module, a signed-in user with a running job, and an audit log that accepts no more
 * entries.
 */
async function start() {
  const forge = await testForge()
  forge.put(repository('wordy', '1.0.0'))
  const env = { PANEL_FORGE_URL: forge.url, PANEL_FORGE_ORG: forge.org }
  const app = await withModules([record('plain')], { env })
  const client = await signIn(app)
  await recordJob(app.db, 'job')
  const before = (await audited(app.db)).length
  const full = () => app.db.script(`CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END`)
  return {
    ...app,
    forge,
    client,
    full,
    admin: { authorization: `Bearer ${await app.tokenFor('admin')}` },
    type: (...words: string[]) => typeCommand({ ...app.services, secrets: app.secrets }, words),
    /** The entries since then. */
    entries: async () => (await audited(app.db)).slice(before),
  }
}

test('a login that cannot be put in the audit log fails: no session, no last login', async () => {
  const app = await start()
  const before = await rows(app.db, 'SELECT last_login_at FROM users WHERE id > 0')
  const sessions = await storedSessions(app)
  app.advance(1_000)
  await app.full()

  const body = { username: 'bob', password: 'right horse' }
  await refused(await app.request('POST', '/api/auth/login', { body, from: '192.0.2.7' }), 500, 'storage_failed')

  expect(await storedSessions(app)).toEqual(sessions)
  expect(await rows(app.db, 'SELECT last_login_at FROM users WHERE id > 0')).toEqual(before)
})

test('a session does not end when its end cannot be put in the audit log', async () => {
  const app = await start()
  await app.full()
  const path = `/api/auth/sessions/${app.client.sid}`

  await refused(await app.request('DELETE', path, { headers: app.client.headers() }), 500, 'storage_failed')

  expect(await storedSessions(app)).toEqual([app.client.sid])
  expect(await meStatus(app, app.client)).toBe(200)
})

test('no end is recorded for another user’s session or for a missing one', async () => {
  const app = await start()
  const alice = await signIn(app, 'alice')
  const of = async (sid: number) =>
    app.request('DELETE', `/api/auth/sessions/${sid}`, { headers: app.client.headers() })

  await refused(await of(alice.sid), 404, 'session_missing')
  await refused(await of(4711), 404, 'session_missing')

  expect((await app.entries()).map(({ action }) => action)).toEqual(['login_success'])
})

test('a logout that cannot be put in the audit log ends its session on this instance only', async () => {
  const app = await start()
  await app.full()

  const answer = await app.request('POST', '/api/auth/logout', { headers: app.client.headers() })

  expect(answer.status).toBe(200)
  expect(await storedSessions(app)).toEqual([app.client.sid])
  expect(await meStatus(app, app.client)).toBe(401)
})

test('a job is not cancelled when the cancellation cannot be put in the audit log', async () => {
  const app = await start()
  await app.full()

  const path = '/api/updates/jobs/job/cancel'
  await refused(await app.request('POST', path, { headers: app.client.headers() }), 500, 'storage_failed')

  expect(await findJob(app.db, 'job')).toMatchObject({ status: 'running', cancelled_by: null })
})

test('an installation, with code or without, does not begin when it cannot be put in the audit log', async () => {
  const app = await start()
  app.forge.put({
    name: 'flat',
    branches: { main: { files: { 'module.json': '{"id":"flat","name":"f","version":"1"}' } } },
  })
  const instance = { id: 'this', isGone: async () => false, runs: async () => true }
  let restarted = false
  const deployer: Deployer = createDeployer(
    { ...app.services, folder: await temporaryFolder(), instance },
    async () => {
      restarted = true
    },
  )
  const { request } = mount(functions, { ...app.services, deployer })
  await app.full()

  for (const id of ['wordy', 'flat']) {
    const answer = await request(`/api/registry/modules/${id}/install`, { method: 'POST', headers: app.admin })
    await refused(answer, 500, 'storage_failed')
  }

  await deployer.idle()
  expect(await rows(app.db, 'SELECT id FROM deployments')).toEqual([])
  expect(await rows(app.db, `SELECT id FROM modules WHERE id IN ('wordy', 'flat')`)).toEqual([])
  expect(restarted).toBe(false)
})

test('of two simultaneous installations, the one that does not begin leaves no entry', async () => {
  const app = await start()
  app.forge.put(repository('other', '1.0.0'))
  const instance = { id: 'this', isGone: async () => false, runs: async () => true }
  let served = () => {}
  const serving = new Promise<void>((resolve) => {
    served = resolve
  })
  const deployer = createDeployer({ ...app.services, folder: await temporaryFolder(), instance }, () => serving)
  const { request } = mount(functions, { ...app.services, deployer })
  const install = (id: string) => request(`/api/registry/modules/${id}/install`, { method: 'POST', headers: app.admin })

  expect((await install('wordy')).status).toBe(202)
  await refused(await install('other'), 409, 'deployment_busy')

  expect(await app.entries()).toMatchObject([{ action: 'module_installed', target: 'wordy' }])
  served()
  await deployer.idle()
})

test.each([
  ['keys', ['keys', 'rotate', '--revoke'], 'SELECT kid, revoked_at FROM signing_keys'],
  ['keys', ['keys', 'rotate'], 'SELECT kid FROM signing_keys'],
  ['sessions', ['sessions', 'end', 'bob'], 'SELECT id FROM sessions'],
  ['a module', ['modules', 'disable', 'plain'], 'SELECT id, is_enabled FROM modules ORDER BY id'],
  ['a module', ['modules', 'remove', 'plain'], 'SELECT id FROM modules ORDER BY id'],
  ['a setting', ['settings', 'set', 'ssh_username', 'root'], 'SELECT key, value FROM settings ORDER BY key'],
])('%s stay as they are when « %j » cannot be put in the audit log', async (_, words, sql) => {
  const app = await start()
  const before = await rows(app.db, sql)
  await app.full()

  await expect(app.type(...words)).rejects.toThrow()

  expect(before.length).toBeGreaterThan(0)
  expect(await rows(app.db, sql)).toEqual(before)
})

test('a module from a folder is not recorded when that cannot be put in the audit log', async () => {
  const app = await start()
  const folder = await temporaryFolder()
  await writeFiles(folder, { 'module.json': JSON.stringify({ id: 'flat', name: 'f', version: '1' }) })
  await app.full()

  await expect(app.type('modules', 'install', folder)).rejects.toThrow()

  expect(await rows(app.db, `SELECT id FROM modules WHERE id = 'flat'`)).toEqual([])
})

test('a transaction counts the ended sessions when it writes them', async () => {
  const app = await start()
  await signIn(app)
  await app.type('sessions', 'end', 'bob')
  await app.type('sessions', 'end', 'bob')
  await signIn(app)
  await app.type('keys', 'rotate', '--revoke')

  expect((await app.entries()).map(({ action, details }) => [action, details])).toEqual([
    ['login_success', null],
    ['sessions_ended', { sessions: 2 }],
    ['sessions_ended', { sessions: 0 }],
    ['login_success', null],
    ['keys_rotated', { revoked: 1, sessions: 1 }],
  ])
})

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repository } from '../functions/modules/module.ts'
import { startLibsqlServer } from '../libsql-server.ts'
import { startContainer } from './service.ts'

const SECOND = 1_000_000_000
/** Has no command, so that the engine runs the health check of the image; the intervals are short. */
const FREQUENT_CHECKS = { Healthcheck: { Interval: SECOND, Timeout: 10 * SECOND, Retries: 2, StartPeriod: SECOND } }

test('the service runs without rights except to its data, and leaves only its own files there', async () => {
  const service = await startContainer()
  service.forge.put(repository('wordy', '1.0.0'))

  expect(await service.get('/api/settings')).toMatchObject({ status: 200 })

  const { Config } = await service.inspect()
  expect(Config.User).toBe('10001:10001')
  const files = await readdir(service.data)
  expect(files.filter((name) => !name.startsWith('panel.db'))).toEqual(['secret.key'])
  for (const name of files) expect(await stat(join(service.data, name))).toMatchObject({ uid: 10_001, gid: 10_001 })
  const doctor = await service.type('doctor')
  expect(doctor).toContain('✓ La base de données répond.')
  expect(doctor).toContain('✓ Le moteur Docker répond.')
  expect(doctor.match(/^✗.*$/gm)).toEqual([expect.stringContaining('Voir « settings set »')])
})

test('without the socket’s group only modules with code fail, and doctor and log say what to do', async () => {
  const service = await startContainer({ hostConfig: { GroupAdd: [] } })
  service.forge.put(repository('wordy', '1.0.0'))
  const remedy = /n’a pas accès au moteur Docker.*groupe de \/sockets\/docker\.sock.*--group-add 12345/

  const answer = await service.ask('POST', '/api/registry/modules/wordy/install')

  expect({ status: answer.status, body: await answer.json() }).toEqual({
    status: 503,
    body: { error: expect.stringMatching(remedy), code: 'deployer_missing' },
  })
  expect(await service.type('doctor')).toMatch(new RegExp(`^• .*${remedy.source}`, 'm'))
  expect(await service.lines()).toContainEqual(expect.stringMatching(remedy))
  expect(await service.get('/api/settings')).toMatchObject({ status: 200 })
})

test('without a socket, a process that owns the port installs a module with code', async () => {
  const service = await startContainer({
    env: { PANEL_DEPLOYER: 'process', PANEL_DOCKER_SOCKET: '/nowhere/docker.sock' },
  })
  const [{ Id, State }, boot] = [await service.inspect(), await service.boot()]
  service.forge.put(repository('wordy', '1.0.0'))

  expect(await service.install('wordy')).toMatchObject({ state: 'done', error: null })

  expect(await service.boot()).not.toBe(boot)
  expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
  expect(await service.inspect()).toMatchObject({ Id, State: { StartedAt: State.StartedAt } })
  await service.engine.getContainer(service.name).stop({ t: 30 })
  expect((await service.inspect()).State).toMatchObject({ Running: false, ExitCode: 0 })
})

test('the engine reports the service as healthy, and as unhealthy when its database is down', async () => {
  const database = await startLibsqlServer()
  try {
    const service = await startContainer({ env: { PANEL_DATABASE_URL: database.url }, more: FREQUENT_CHECKS })
    const health = async () => (await service.inspect()).State.Health
    await expect.poll(async () => (await health())?.Status, { timeout: 60_000 }).toBe('healthy')

    await database.stop()

    await expect.poll(async () => (await health())?.Status, { timeout: 60_000 }).toBe('unhealthy')
    expect((await health())?.Log.at(-1)).toMatchObject({ ExitCode: 1, Output: expect.stringContaining('"degraded"') })
    expect((await service.inspect()).State.Running).toBe(true)
  } finally {
    await database.stop()
  }
})

test('the service ends by itself after a signal', async () => {
  const service = await startContainer()

  await service.engine.getContainer(service.name).stop({ t: 30 })

  expect((await service.inspect()).State).toMatchObject({ Running: false, ExitCode: 0, OOMKilled: false })
  expect(await service.lines()).toContainEqual(expect.stringContaining('stopped'))
})

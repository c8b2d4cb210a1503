import { expect, test } from 'vitest'
import { repository, saying } from '../functions/modules/module.ts'
import { type Service, startContainer } from './service.ts'

/** Returns the source of a module that blocks its import for four seconds, while the helper waits. */
const slow = (id: string, version: string) =>
  `${saying(id, version)}; Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4000)`

/** Waits until the helper waits for the new container. */
const helperWaits = (service: Service) => expect.poll(() => service.step(), { timeout: 60_000 }).toBe('waiting')

test('a folder of modules may have any name', async () => {
  const service = await startContainer({ env: { PANEL_MODULES_DIR: '/mod $HOME "it\'s" é' } })
  service.forge.put(repository('wordy', '1.0.0'))

  expect(await service.install('wordy')).toMatchObject({ state: 'done' })

  expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
  await service.quiet()
})

test('a container whose folder of modules is in memory is not replaced, because the folder would be lost', async () => {
  const service = await startContainer({
    env: { PANEL_MODULES_DIR: '/memory/modules' },
    hostConfig: { Tmpfs: { '/memory': '' } },
  })
  const { Id } = await service.inspect()
  service.forge.put(repository('wordy', '1.0.0'))

  expect(await service.install('wordy')).toMatchObject({
    state: 'rolled_back',
    error: expect.stringContaining('tmpfs'),
  })

  expect((await service.inspect()).Id).toBe(Id)
  expect(await service.get('/api/repair/modules')).toMatchObject({ body: [] })
})

test('a module that ends the process a moment after its start is rolled back', async () => {
  const service = await startContainer()
  const { Id } = await service.inspect()
  service.forge.put(
    repository('wordy', '1.0.0', `${saying('wordy', '1.0.0')}; setTimeout(() => process.exit(7), 1500)`),
  )

  const { state, error } = { ...(await service.install('wordy')) }

  expect({ state, error }).toEqual({ state: 'rolled_back', error: 'il s’est arrêté au démarrage (code 7)' })
  expect((await service.inspect()).Id).toBe(Id)
  await service.quiet()
})

test('a new container that is restarted by hand during the wait is kept, and so is its module', async () => {
  const service = await startContainer()
  service.forge.put(repository('wordy', '1.0.0', slow('wordy', '1.0.0')))
  const deployment = await service.begin('wordy')
  await helperWaits(service)
  // The start with the change has begun.
  await expect.poll(() => service.lines(), { timeout: 30_000 }).toContainEqual(expect.stringContaining('loading'))

  await service.engine.getContainer(service.name).restart({ t: 1 })

  expect(await service.end(deployment)).toMatchObject({ state: 'done', error: null })
  await service.quiet()
  service.forge.put(repository('other', '1.0.0'))
  expect(await service.install('other')).toMatchObject({ state: 'done' })
  expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
  await service.quiet()
})

test('the service completes the swap when the helper is removed by hand during the wait', async () => {
  const service = await startContainer()
  const { HostConfig } = await service.inspect()
  service.forge.put(repository('wordy', '1.0.0', slow('wordy', '1.0.0')))
  const deployment = await service.begin('wordy')
  await helperWaits(service)

  await service.engine.getContainer(`${service.name}.helper`).remove({ force: true })

  expect(await service.end(deployment)).toMatchObject({ state: 'done', error: null })
  expect(await service.family()).toEqual([''])
  expect((await service.inspect()).HostConfig.RestartPolicy).toEqual(HostConfig.RestartPolicy)
})

test('an installation is refused with the reason when the engine cannot be reached', async () => {
  const service = await startContainer({
    env: { PANEL_DEPLOYER: 'docker', PANEL_DOCKER_SOCKET: '/nowhere/docker.sock' },
  })
  service.forge.put(repository('wordy', '1.0.0'))

  const answer = await service.ask('POST', '/api/registry/modules/wordy/install')

  expect(answer.status).toBe(503)
  expect(await answer.json()).toEqual({
    error: expect.stringMatching(/moteur Docker.*\/nowhere\/docker\.sock.*ENOENT/),
    code: 'deployer_missing',
  })
})

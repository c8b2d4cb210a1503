import { expect, test } from 'vitest'
import type { Inspected } from '../../modules/deploy/docker/engine.ts'
import { exampleRepository, repository } from '../functions/modules/module.ts'
import { startContainer } from './service.ts'

/** Returns the settings of a container, without those that differ for each container. */
function settings({ Name, Config, HostConfig, Mounts, Path, Args }: Inspected) {
  const { Image, Labels, ...config } = Config
  const labels = Object.entries(Labels).filter(([key]) => !key.startsWith('ops-panel.'))
  const { Binds, ...host } = HostConfig
  const mounts = Mounts.map(({ Type, Source, Destination, RW }) => ({ Type, Source, Destination, RW }))
  const byPlace = (a: { Destination: string }, b: { Destination: string }) => (a.Destination < b.Destination ? -1 : 1)
  return { Name, Path, Args, config, labels: Object.fromEntries(labels), host, mounts: mounts.sort(byPlace) }
}

test('the new container has the settings of the previous one, also after several replacements', async () => {
  const service = await startContainer({
    env: { PANEL_MODULES_DIR: '/modules', FREE: 'a=b "c"' },
    more: {
      Labels: { 'traefik.enable': 'true', 'com.docker.compose.project': 'panel' },
      Volumes: { '/unnamed': {} },
      User: '0:0',
      WorkingDir: '/var/lib/ops-panel',
      StopSignal: 'SIGTERM',
      StopTimeout: 20,
      Healthcheck: { Test: ['CMD', '/usr/bin/ops-panel', '--version'], Interval: 60_000_000_000, Retries: 2 },
    },
    hostConfig: {
      RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 7 },
      CapAdd: ['NET_ADMIN'],
      CapDrop: ['MKNOD'],
      ExtraHosts: ['forge.example:127.0.0.1'],
      LogConfig: { Type: 'json-file', Config: { 'max-size': '5m' } },
      Tmpfs: { '/scratch': 'size=1m' },
      Mounts: [{ Type: 'volume', Source: 'named-volume', Target: '/named' }],
      Ulimits: [{ Name: 'nofile', Soft: 4096, Hard: 8192 }],
      Memory: 1_000_000_000,
      ShmSize: 1_000_000,
      Init: true,
      SecurityOpt: ['no-new-privileges'],
    },
  })
  const before = await service.inspect()
  const images = async () => (await service.engine.listImages()).map(({ Id }) => Id)
  const imagesBefore = new Set(await images())

  for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
    service.forge.put(repository('wordy', version))
    expect(await service.install('wordy')).toMatchObject({ state: 'done' })
    await service.quiet()
  }

  const after = await service.inspect()
  expect(after.Id).not.toBe(before.Id)
  expect(settings(after)).toEqual(settings(before))
  const layers = async (image: string) => (await service.engine.getImage(image).inspect()).RootFS.Layers?.length
  expect(await layers(after.Image)).toBe(((await layers(before.Image)) ?? 0) + 1)
  // The images in between are removed.
  expect((await images()).filter((each) => !imagesBefore.has(each))).toEqual([after.Image])
})

test.each([
  ['root, with modules in the image', { PANEL_MODULES_DIR: '/modules' }],
  ['an account that may use the engine’s socket, with modules in a volume', {}],
])('as %s, installing, disabling, enabling and removing the example module replace the container', async (_, env) => {
  const service = await startContainer({ env })
  service.forge.put(await exampleRepository())
  for (const [method, path, begun, status] of [
    ['POST', '/api/registry/modules/hello/install', 202, 200],
    ['POST', '/api/modules/hello/disable', 200, 404],
    ['POST', '/api/modules/hello/enable', 200, 200],
    ['DELETE', '/api/repair/modules/hello', 200, 404],
  ] as const) {
    const [boot, { Id }] = [await service.boot(), await service.inspect()]
    // A deployment is confirmed shortly after the end of its helper; until then the service answers 409.
    await expect
      .poll(async () => (await service.ask(method, path)).status, { interval: 200, timeout: 5_000 })
      .toBe(begun)
    await expect.poll(() => service.boot().catch(() => boot), { timeout: 60_000 }).not.toBe(boot)
    await service.quiet()
    expect((await service.inspect()).Id).not.toBe(Id)
    expect((await service.get('/api/modules/hello/greeting')).status).toBe(status)
  }
  expect(await service.get('/api/repair/modules')).toMatchObject({ body: [] })
})

test('a container that is removed when it stops is not replaced, and nothing changes', async () => {
  const service = await startContainer({ hostConfig: { AutoRemove: true, RestartPolicy: { Name: 'no' } } })
  const { Id } = await service.inspect()
  service.forge.put(repository('wordy', '1.0.0'))

  const { state, error } = { ...(await service.install('wordy')) }

  expect({ state, error }).toEqual({ state: 'rolled_back', error: expect.stringContaining('--rm') })
  expect((await service.inspect()).Id).toBe(Id)
  expect(await service.get('/api/repair/modules')).toMatchObject({ body: [] })
  expect(await service.family()).toEqual([''])
})

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { connectEngine } from '../../modules/deploy/docker/engine.ts'
import { testForge } from '../forge.ts'
import { freePort } from '../free-port.ts'
import { repository } from '../functions/modules/module.ts'
import { containerAt, ENGINE_SOCKET } from './container.ts'
import { engineProxy, SOCKET_GROUP } from './engine-proxy.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Prepares compose.yaml with the socket of another engine, and with more frequent health checks. */
async function project() {
  const folder = await mkdtemp(join(tmpdir(), 'compose-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await engineProxy(join(folder, 'docker.sock'), ENGINE_SOCKET)
  const panel = { volumes: [`${folder}/docker.sock:/var/run/docker.sock`], healthcheck: { interval: '1s' } }
  await writeFile(join(folder, 'here.yaml'), JSON.stringify({ services: { panel } }))
  const name = `panel${randomBytes(4).toString('hex')}`
  const port = await freePort()
  const ssh = { PANEL_SSH_HOST: 'host.docker.internal:1', PANEL_SSH_USERNAME: 'panel', PANEL_SSH_PASSWORD: 'x' }
  const given = { PORT: String(port), DOCKER_GID: String(SOCKET_GROUP), ...ssh }
  const compose = async (words: readonly string[], env: Record<string, string> = given) => {
    const files = ['-f', join(ROOT, 'compose.yaml'), '-f', join(folder, 'here.yaml')]
    const surroundings = { PATH: process.env.PATH ?? '', HOME: folder, DOCKER_HOST: `unix://${ENGINE_SOCKET}`, ...env }
    const { stdout } = await promisify(execFile)('docker-compose', ['-p', name, ...files, ...words], {
      env: surroundings,
    })
    return stdout.trim()
  }
  onTestFinished(async () => void (await compose(['down', '-v'])))
  return { compose, given, name, port }
}

/** Makes a server on the loopback reachable from a network of the engine; returns its address there. */
async function relay(gateway: string, url: string): Promise<string> {
  const { port } = new URL(url)
  const server = createServer((client) => {
    const upstream = connect(Number(port), '127.0.0.1')
    for (const socket of [client, upstream]) socket.on('error', () => {})
    client.pipe(upstream).pipe(client)
  })
  const relayPort = await freePort()
  await new Promise<void>((resolve) => server.listen(relayPort, gateway, resolve))
  onTestFinished(() => void server.close())
  return `http://${gateway}:${relayPort}`
}

test('compose.yaml runs unchanged with few rights, keeps its data, and leaves a replaced container running', async () => {
  const { compose, given, name, port } = await project()
  const engine = await connectEngine(ENGINE_SOCKET)

  await compose(['up', '-d', '--no-build'])

  const id = await compose(['ps', '-q', 'panel'])
  const { Name, HostConfig, NetworkSettings, Mounts } = await engine.getContainer(id).inspect()
  const data = Mounts.find(({ Destination }) => Destination === '/var/lib/ops-panel')?.Source ?? ''
  const service = containerAt(engine, { name: Name.slice(1), url: `http://127.0.0.1:${port}`, data })
  await service.served()
  expect(HostConfig).toMatchObject({
    Init: true,
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges:true'],
    GroupAdd: [String(SOCKET_GROUP)],
    RestartPolicy: { Name: 'unless-stopped' },
    PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: String(port) }] },
  })
  await expect.poll(async () => (await service.inspect()).State.Health?.Status, { timeout: 60_000 }).toBe('healthy')
  const doctor = await service.type('doctor')
  expect(doctor).toContain('✓ Le moteur Docker répond.')
  // The name resolves, although nothing listens there.
  expect(doctor).toMatch(/host\.docker\.internal:1.*ECONNREFUSED/)

  const settings = await service.get('/api/settings')
  expect(settings.status).toBe(200)

  const forge = await testForge()
  const url = await relay(NetworkSettings.Networks[`${name}_default`]?.Gateway ?? '', forge.url)
  const withForge = { ...given, PANEL_FORGE_URL: url, PANEL_FORGE_ORG: forge.org }
  await compose(['up', '-d', '--no-build'], withForge)
  await service.served()
  forge.put(repository('wordy', '1.0.0'))
  const recreated = await service.inspect()
  expect(recreated.Id).not.toBe(id)
  // With the token from before.
  const environment = { url, org: forge.org, token_set: false }
  expect(await service.get('/api/settings')).toEqual({
    ...settings,
    body: { ...Object(settings.body), forge_environment: environment },
  })
  expect(await service.install('wordy')).toMatchObject({ state: 'done', error: null })
  await service.quiet()
  expect(await service.get('/api/modules/wordy/word')).toEqual({ status: 200, body: { word: '1.0.0' } })
  const replaced = await service.inspect()
  expect(replaced.Id).not.toBe(recreated.Id)

  await compose(['up', '-d', '--no-build'], withForge)

  expect((await service.inspect()).Id).toBe(replaced.Id)
})

test('compose.yaml names a variable that is missing in .env, and how to find its value', async () => {
  const { compose, given } = await project()
  const { DOCKER_GID: _, ...rest } = given

  const message = await compose(['config'], rest).catch(String)

  expect(message).toMatch(/DOCKER_GID|group of the socket/)
  expect(message).toContain('stat -c %g /var/run/docker.sock')
})

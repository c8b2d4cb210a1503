import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { expect, inject, onTestFinished } from 'vitest'
import * as z from 'zod'
import { connectEngine, lastLines } from '../../runtime/docker-engine.ts'
import { type TestForge, testForge } from '../forge.ts'
import { saying } from '../functions/modules/module.ts'
import { issue } from '../runtime/service.ts'
import { engineProxy } from './engine-proxy.ts'
import { IMAGE } from './image.ts'

const Health = z.object({ boot_id: z.string() })
const Deployment = z.object({ state: z.string(), log: z.array(z.string()), error: z.string().nullable() })
const Begun = z.object({ deployment: z.string() })

/** How long a client waits for what may have to be tried again several times. */
const LONG = 60_000

/** A module's repository: an endpoint that says a word, or other code. */
export const repository = (id: string, version: string, code = saying(id, version)) => ({
  name: id,
  branches: {
    main: {
      files: { 'module.json': JSON.stringify({ id, name: id, version, has_backend: true }), 'backend.mjs': code },
    },
  },
})

/** The service in a container on the host's network, with a forge. */
export async function startContainer({
  env = {},
  more = {},
  hostConfig = {},
}: {
  env?: Record<string, string>
  more?: Docker.ContainerCreateOptions
  hostConfig?: Docker.HostConfig
} = {}) {
  const forge: TestForge = await testForge()
  const engine = await connectEngine(process.env.TEST_DOCKER_SOCKET ?? '')
  const folder = await mkdtemp(join(tmpdir(), 'docker-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [data, sockets] = [join(folder, 'data'), join(folder, 'run')]
  for (const each of [data, sockets]) await mkdir(each)
  const proxy = await engineProxy(join(sockets, 'docker.sock'), process.env.TEST_DOCKER_SOCKET ?? '')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const name = `panel-${randomBytes(4).toString('hex')}`
  const variables = {
    PANEL_PORT: port,
    PANEL_DATA_DIR: '/data',
    PANEL_DEPLOYER: 'docker',
    PANEL_DOCKER_SOCKET: '/sockets/docker.sock',
    PANEL_FORGE_URL: forge.url,
    PANEL_FORGE_ORG: forge.org,
    PANEL_JWT_KEY: inject('signingKey').pem,
    PANEL_SSH_HOST: '127.0.0.1:1',
    ...env,
  }
  const container = await engine.createContainer({
    ...more,
    name,
    Image: IMAGE,
    Env: Object.entries(variables).map(([key, value]) => `${key}=${value}`),
    HostConfig: {
      NetworkMode: 'host',
      Binds: [`${data}:/data`, `${sockets}:/sockets`],
      RestartPolicy: { Name: 'unless-stopped' },
      ...hostConfig,
    },
  })
  const family = async () => {
    const all = await engine.listContainers({ all: true })
    return all.filter(({ Names }) => Names.some((each) => each.startsWith(`/${name}`)))
  }
  onTestFinished(async () => {
    for (const { Id } of await family())
      await engine
        .getContainer(Id)
        .remove({ force: true, v: true })
        .catch(() => {})
  })
  onTestFinished(async ({ task }) => {
    if (task.result?.state !== 'fail') return
    for (const { Id, Names, State } of await family()) {
      const lines = await lastLines(engine, await engine.getContainer(Id).inspect())
      console.error(`${Names} ${State}\n${lines.join('\n')}`)
    }
  })
  await container.start()
  await expect
    .poll(
      () =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    )
    .toBe(true)
  const headers = { authorization: `Bearer ${await adminToken(data)}` }
  const get = async (path: string) => {
    const answer = await fetch(`${url}${path}`, { headers })
    return { status: answer.status, body: await answer.json() }
  }
  const post = (path: string) => fetch(`${url}${path}`, { method: 'POST', headers })
  return {
    forge,
    engine,
    proxy,
    name,
    data,
    get,
    post,
    inspect: () => engine.getContainer(name).inspect(),
    /** The names of the containers that there are of it, without the service's own before each. */
    family: async () => (await family()).map(({ Names }) => Names.join().replace(`/${name}`, '')).sort(),
    helper: () => engine.getContainer(`${name}.helper`).inspect(),
    boot: async () => Health.parse((await get('/api/health')).body).boot_id,
    /** Begins the installation of what the forge has. */
    async begin(id: string) {
      const answer = await post(`/api/registry/modules/${id}/install`)
      const text = await answer.text()
      expect({ status: answer.status, text }).toEqual({ status: 202, text })
      return Begun.parse(JSON.parse(text)).deployment
    },
    async install(id: string) {
      return this.end(await this.begin(id))
    },
    async end(deployment: string) {
      let last: z.infer<typeof Deployment> | undefined
      const look = async () => {
        last = Deployment.parse((await get(`/api/registry/deployments/${deployment}`)).body)
        return last.state
      }
      await expect
        .poll(() => look().catch(String), { timeout: LONG, interval: 200 })
        .toMatch(/^(done|failed|rolled_back)$/)
      return last
    },
    /** Until nothing is left of the change but the service itself. */
    quiet: () => expect.poll(async () => (await family()).length, { timeout: LONG, interval: 200 }).toBe(1),
  }
}

const adminToken = async (folder: string) => (await issue(folder, 900, { isAdmin: true })).token

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return String(typeof address === 'object' && address ? address.port : 0)
}

import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { expect, inject, onTestFinished } from 'vitest'
import * as z from 'zod'
import { connectEngine, inspectIfThere, lastLines } from '../../runtime/docker-engine.ts'
import { lastTold } from '../../runtime/docker-swap.ts'
import { type TestForge, testForge } from '../forge.ts'
import { freePort } from '../free-port.ts'
import { issue } from '../runtime/service.ts'
import { engineProxy } from './engine-proxy.ts'
import { IMAGE } from './image.ts'

const Health = z.object({ boot_id: z.string() })
const Deployment = z.object({ state: z.string(), log: z.array(z.string()), error: z.string().nullable() })
const Begun = z.object({ deployment: z.string() })

/** How long a client waits for what may have to be tried again several times. */
const LONG = 60_000

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
    PANEL_PORT: String(port),
    PANEL_DATA_DIR: '/data',
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
  const ask = (method: string, path: string) => fetch(`${url}${path}`, { method, headers })
  return {
    forge,
    engine,
    proxy,
    name,
    data,
    get,
    ask,
    inspect: () => engine.getContainer(name).inspect(),
    /** The names of the containers that there are of it, without the service's own before each. */
    family: async () => (await family()).map(({ Names }) => Names.join().replace(`/${name}`, '')).sort(),
    /** What the service has written last. */
    lines: async () => lastLines(engine, await engine.getContainer(name).inspect()),
    /** The step that the helper has last told; undefined without one. */
    async step() {
      const helper = await inspectIfThere(engine, `${name}.helper`)
      return helper && lastTold(await lastLines(engine, helper))?.step
    },
    helper: () => engine.getContainer(`${name}.helper`).inspect(),
    boot: async () => Health.parse((await get('/api/health')).body).boot_id,
    /** Begins the installation of what the forge has. */
    async begin(id: string) {
      const answer = await ask('POST', `/api/registry/modules/${id}/install`)
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

export type Service = Awaited<ReturnType<typeof startContainer>>

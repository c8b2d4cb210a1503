import { randomBytes } from 'node:crypto'
import { chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { inject, onTestFinished } from 'vitest'
import { connectEngine } from '../../modules/deploy/docker/engine.ts'
import { type TestForge, testForge } from '../forge.ts'
import { freePort } from '../free-port.ts'
import { containerAt, ENGINE_SOCKET } from './container.ts'
import { engineProxy, SOCKET_GROUP } from './engine-proxy.ts'

/** The image that run.sh has built from Dockerfile. */
const IMAGE = 'ops-panel'
/** The account that the image runs as. */
const ACCOUNT = 10001
const DATA = '/var/lib/ops-panel'

/** The restrictions of compose.yaml. */
const HARDENED: Docker.HostConfig = {
  ReadonlyRootfs: true,
  CapDrop: ['ALL'],
  SecurityOpt: ['no-new-privileges'],
  GroupAdd: [String(SOCKET_GROUP)],
}

/**
 * Starts the service in a container on the host's network, with a forge. It runs as its own account with minimal
 * rights; with modules outside of its data it runs as root, because only root may write there.
 */
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
  const engine = await connectEngine(ENGINE_SOCKET)
  const folder = await mkdtemp(join(tmpdir(), 'docker-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [data, sockets] = [join(folder, 'data'), join(folder, 'run')]
  await mkdir(data, { mode: 0o700 })
  await mkdir(sockets)
  const asRoot = env.PANEL_MODULES_DIR !== undefined
  if (!asRoot) await chown(data, ACCOUNT, ACCOUNT)
  const proxy = await engineProxy(join(sockets, 'docker.sock'), ENGINE_SOCKET)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const name = `panel-${randomBytes(4).toString('hex')}`
  const variables = {
    PANEL_HOST: '127.0.0.1',
    PANEL_PORT: String(port),
    PANEL_DOCKER_SOCKET: '/sockets/docker.sock',
    PANEL_FORGE_URL: forge.url,
    PANEL_FORGE_ORG: forge.org,
    PANEL_JWT_KEY: inject('signingKey').pem,
    PANEL_SSH_HOST: '127.0.0.1:1',
    ...env,
  }
  const container = await engine.createContainer({
    ...(asRoot && { User: '0:0' }),
    ...more,
    name,
    Image: IMAGE,
    Env: Object.entries(variables).map(([key, value]) => `${key}=${value}`),
    HostConfig: {
      NetworkMode: 'host',
      Binds: [`${data}:${DATA}`, `${sockets}:/sockets`],
      RestartPolicy: { Name: 'unless-stopped' },
      ...(!asRoot && HARDENED),
      ...hostConfig,
    },
  })
  const service = containerAt(engine, { name, url, data })
  await container.start()
  await service.served()
  return { forge, proxy, ...service }
}

export type Service = Awaited<ReturnType<typeof startContainer>>

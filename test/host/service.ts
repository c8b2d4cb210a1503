import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Account, PASSWORDS, SSH_HOST } from './rig.ts'

/** `run.sh` names a copy, so that nobody's build changes it while the suite runs. */
const BUNDLE = process.env.TEST_BUNDLE ?? fileURLToPath(new URL('../../dist/ops-panel.mjs', import.meta.url))
const START_MS = 15_000
/** What a service manager is promised. */
const STOP_MS = 5_000

export interface Service {
  url: string
  /** Everything that it has written so far. */
  log(): string
  /** Ends it with SIGTERM; rejects when it takes more than 5 s, or does not end with code 0. */
  stop(): Promise<void>
}

interface Options {
  /** Its service account on the host. */
  as?: Account
  env?: Record<string, string>
}

/** Starts the built service against the rig, with a data folder of its own, and waits until it is healthy. */
export async function startService({ as = 'root', env = {} }: Options = {}): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-host-test-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [BUNDLE], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      PANEL_PORT: String(port),
      PANEL_DATA_DIR: folder,
      PANEL_TRUSTED_PROXIES: '127.0.0.0/8',
      PANEL_SSH_HOST: SSH_HOST,
      PANEL_SSH_USERNAME: as,
      PANEL_SSH_PASSWORD: PASSWORDS[as],
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text))
  const ended = once(child, 'close')
  process.once('exit', () => child.kill('SIGKILL'))
  const started = Date.now()
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null || Date.now() - started > START_MS) {
      child.kill('SIGKILL')
      await ended
      throw new Error(`the service did not start:\n${log}`)
    }
    await pause(50)
  }
  return {
    url,
    log: () => log,
    async stop() {
      const asked = Date.now()
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 4 * STOP_MS)
      const [code, signal] = await ended
      clearTimeout(timer)
      await rm(folder, { recursive: true, force: true })
      const took = Date.now() - asked
      if (code !== 0 || took > STOP_MS)
        throw new Error(`the service ended with ${code ?? signal} after ${took} ms:\n${log}`)
    },
  }
}

/** Whether the service answers and its database does. */
export async function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/api/health`).then(
    ({ status }) => status === 200,
    () => false,
  )
}

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

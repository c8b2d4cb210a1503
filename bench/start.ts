import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../test/free-port.ts'
import { measure } from './rounds.ts'
import { compare, type Row } from './table.ts'

const ROUNDS = { warmUp: 2, rounds: 15 }
/** A start that takes longer has failed. */
const START_MS = 30_000

const [EXECUTABLE, FILE] = ['dist/ops-panel', 'dist/ops-panel.mjs'].map((file) =>
  fileURLToPath(new URL(`../${file}`, import.meta.url)),
)
/** The least that Node can do: it starts, listens and answers. */
const BARE = `require('node:http').createServer((_, response) => response.end('{}')).listen(process.env.PANEL_PORT, '127.0.0.1')`

/** From the start of a program to its first answer, with data from an earlier start, beside bare Node's. */
export async function start(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-bench-'))
  const env = { PATH: process.env.PATH ?? '', PANEL_DATA_DIR: folder }
  const first = (...command: [string, ...string[]]) => firstAnswer(command, env, folder)
  try {
    const times = await measure(ROUNDS, {
      bare: () => first(process.execPath, '-e', BARE),
      executable: () => first(EXECUTABLE ?? ''),
      file: () => first(process.execPath, FILE ?? ''),
    })
    return [
      compare('start of the executable / bare Node', { atMost: 3 }, 'ms', times('executable'), times('bare')),
      compare('start of the one file / bare Node', undefined, 'ms', times('file'), times('bare')),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Milliseconds until the program answers `GET /api/health`; then it is ended. */
async function firstAnswer([program, ...words]: [string, ...string[]], env: object, cwd: string): Promise<number> {
  const port = await freePort()
  const began = performance.now()
  const child = spawn(program, words, {
    cwd,
    env: { ...env, PANEL_PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  try {
    while (!(await answers(port))) {
      if (child.exitCode !== null || performance.now() - began > START_MS) throw new Error(`${program} does not start`)
      await pause(1)
    }
    return performance.now() - began
  } finally {
    child.kill('SIGTERM')
    await ended
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => socket.write('GET /api/health HTTP/1.0\r\n\r\n'))
    socket.once('data', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
  }).then((answered) => answered === true)
}

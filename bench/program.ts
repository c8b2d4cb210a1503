import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../test/free-port.ts'

/** A longer start has failed. */
const START_MS = 30_000

const built = (file: string) => fileURLToPath(new URL(`../dist/${file}`, import.meta.url))
/** The smallest Node server: it starts, listens and answers. */
const BARE = `require('node:http').createServer((_, response) => response.end('{}')).listen(process.env.PANEL_PORT, '127.0.0.1')`

/** The measured programs: the shipped ones, and bare Node. */
export const COMMANDS = {
  bare: [process.execPath, '-e', BARE],
  executable: [built('ops-panel')],
  file: [process.execPath, built('ops-panel.mjs')],
} as const

export interface Program {
  pid: number
  /** From its start to its first answer. */
  ms: number
  /** Sends one more request; true when it is answered. */
  ask(): Promise<boolean>
  stop(): Promise<void>
}

/** Runs a function with a data folder, which outlives the programs. */
export async function withData<result>(work: (folder: string) => Promise<result>): Promise<result> {
  const folder = await mkdtemp(join(tmpdir(), 'ops-panel-bench-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Starts a program and waits until it answers `GET /api/health`. */
export async function startProgram(name: keyof typeof COMMANDS, folder: string): Promise<Program> {
  const [program, ...words] = COMMANDS[name]
  const port = await freePort()
  const began = performance.now()
  const child = spawn(program, words, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', PANEL_DATA_DIR: folder, PANEL_PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  while (!(await answers(port))) {
    if (child.exitCode !== null || performance.now() - began > START_MS) {
      await stop()
      throw new Error(`${program} does not start`)
    }
    await pause(1)
  }
  return { pid: child.pid ?? 0, ms: performance.now() - began, ask: () => answers(port), stop }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => socket.write('GET /api/health HTTP/1.0\r\n\r\n'))
    socket.once('data', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
  })
}

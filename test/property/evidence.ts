import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buffer, text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { openDatabase } from '../../db/libsql/client.ts'
import { send, type Sent } from '../send.ts'
import { STARTING_FAST } from '../serve/program.ts'

const PROGRAM = join(import.meta.dirname, '../../serve/main.ts')
/** A start takes seconds on a busy machine. */
const START_MS = 30_000

const HANDING_OUT = new Set([
  'POST /api/auth/login',
  'POST /api/auth/refresh',
  'POST /api/auth/tokens',
  'POST /api/auth/login/answers',
  'POST /api/auth/step-up',
  'POST /api/auth/factors/totp',
  'POST /api/auth/factors/totp/confirm',
  'POST /api/auth/factors/recovery',
])

const Ready = z.object({ msg: z.literal('ready'), url: z.string() })

export interface Told {
  status: number
  body: string
  cookie: string
}

/** Collects the traces of a run that might contain a secret: all output, and all refusals. */
export function collectEvidence() {
  const output: string[] = []
  const errors: string[] = []
  const answers: string[] = []
  const statuses = new Set<number>()
  const children = new Set<ReturnType<typeof spawn>>()

  const tell = (status: number, head: string, body: string) => {
    statuses.add(status)
    ;(status >= 400 ? errors : answers).push(`${status} ${head}\n${body}`)
  }

  const begin = (environment: Record<string, string>, args: readonly string[], entry: string) => {
    const fixed = { PATH: process.env.PATH ?? '', PANEL_LOG_LEVEL: 'trace', PANEL_PORT: '0' }
    const env = { ...fixed, ...STARTING_FAST, ...environment }
    const child = spawn(process.execPath, [entry, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    children.add(child)
    const said: string[] = []
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        output.push(line)
        said.push(line)
      })
    }
    const ended = once(child, 'close').then(() => {
      children.delete(child)
      const last = said.slice(-20).join('\n')
      return {
        code: child.exitCode,
        told: `${args.join(' ')} ended with ${child.signalCode ?? child.exitCode}:\n${last}`,
      }
    })
    return { child, ended }
  }

  return {
    output: () => output.join('\n'),
    errors: () => errors.join('\n\n'),
    /** All other answers, except those that hand out a token on purpose. */
    answers: () => answers.join('\n\n'),
    statuses,

    /** Runs the program until it ends by itself, and expects that exit code. */
    async run(code: number, env: Record<string, string>, ...args: string[]): Promise<void> {
      const end = await begin(env, args, PROGRAM).ended
      expect(end.code, end.told).toBe(code)
    },

    /** Starts the program, or another one in its place, and waits until it listens. */
    async start(env: Record<string, string>, entry = PROGRAM) {
      const { child, ended } = begin(env, [], entry)
      const url = await new Promise<string>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`no start in time:\n${output.join('\n')}`)), START_MS)
        void ended.then(() => reject(new Error(`the program has ended:\n${output.join('\n')}`)))
        createInterface({ input: child.stdout }).on('line', (line) => {
          const ready = Ready.safeParse(parsed(line))
          if (!ready.success) return
          clearTimeout(late)
          resolve(ready.data.url)
        })
      })
      return {
        url,
        async stop() {
          child.kill('SIGTERM')
          const end = await ended
          expect(end.code, end.told).toBe(0)
        },
      }
    },

    /** Sends one request and keeps its answer as evidence. */
    async ask(url: string, method: string, path: string, sent: Sent = {}): Promise<Told> {
      const answer = await send(url, method, path, sent)
      const told = await answer.text()
      if (!HANDING_OUT.has(`${method} ${path}`) || answer.status >= 400)
        tell(answer.status, JSON.stringify([...answer.headers]), told)
      statuses.add(answer.status)
      const set = /^svc_refresh=([^;]*)/.exec(answer.headers.get('set-cookie') ?? '')
      return { status: answer.status, body: told, cookie: set?.[1] ?? '' }
    },

    /** Sends raw bytes that no client would send. */
    async send(url: string, bytes: string): Promise<void> {
      const { hostname, port } = new URL(url)
      const connection = connect(Number(port), hostname)
      connection.on('error', () => {})
      connection.write(bytes)
      const answer = await text(connection)
      tell(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]), 'raw', answer)
    },

    /** Follows a socket until it is closed or refused; returns the close code or the status. */
    async follow(
      url: string,
      path: string,
      { protocols = ['panel.v1'], headers = {} }: { protocols?: string[]; headers?: Record<string, string> } = {},
    ): Promise<number> {
      const ws = new WebSocket(url.replace('http', 'ws') + path, protocols, { headers })
      ws.on('error', () => {})
      return new Promise((resolve) => {
        ws.on('unexpected-response', async (_, response) => {
          const status = response.statusCode ?? 0
          tell(status, JSON.stringify(response.headers), await text(response))
          resolve(status)
        })
        ws.on('close', (code, reason) => {
          errors.push(`closed with ${code} ${reason.toString()}`)
          resolve(code)
        })
      })
    },

    /** Kills the processes that a failed test has left. */
    end() {
      for (const child of children) child.kill('SIGKILL')
    },
  }
}
export type Evidence = ReturnType<typeof collectEvidence>

/** Every row of the audit log, as text. */
export async function auditRows(folder: string): Promise<string[]> {
  const db = await openDatabase(`file:${folder}/panel.db`)
  const rows = await db.query(z.record(z.string(), z.unknown()), 'SELECT * FROM audit ORDER BY id')
  await db.close()
  // A text that contains a NUL is returned as bytes.
  return rows.map((row) =>
    JSON.stringify(row, (_, value: unknown) => (value instanceof ArrayBuffer ? Buffer.from(value).toString() : value)),
  )
}

/** The contents of the database file and of its write-ahead log. */
export async function databaseFiles(folder: string): Promise<Buffer> {
  const list = async () => (await readdir(folder)).filter((name) => name.startsWith('panel.db')).sort()
  for (;;) {
    const names = await list()
    const read = await Promise.allSettled(names.map((name) => buffer(createReadStream(join(folder, name)))))
    // A closed connection releases its files when it is garbage-collected, which may happen now. SQLite then moves the
    // log into the database and removes it, so the files just read may belong to two states.
    if (String(await list()) !== String(names)) continue
    return withoutGaps(
      Buffer.concat(read.map((each) => (each.status === 'fulfilled' ? each.value : raise(each.reason)))),
    )
  }
}

function raise(reason: unknown): never {
  throw reason
}

const GAP = 64

/** Shortens long runs of zeros: most pages of a database are empty, and no secret contains such a run. */
export function withoutGaps(bytes: Buffer): Buffer {
  const zeros = Buffer.alloc(GAP)
  const parts: Buffer[] = []
  let at = 0
  for (;;) {
    const gap = bytes.indexOf(zeros, at)
    if (gap < 0) return Buffer.concat([...parts, bytes.subarray(at)])
    parts.push(bytes.subarray(at, gap + GAP))
    at = gap + GAP
    while (bytes[at] === 0) at += 1
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

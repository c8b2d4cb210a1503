import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { request } from 'undici'
import type { Findings } from './findings.ts'

/** Only a program that Node runs can be asked to collect its garbage. */
const INSPECT = ['--inspect=127.0.0.1:0']
/** A start takes a second, or many on a loaded machine. */
const START_MS = 120_000
/** The service promises 5 s; systemd kills it after 90 s by default. */
const STOP_MS = 90_000

/** The service, through all its restarts on one folder. */
export interface Panel {
  url: string
  port: number
  pid(): number
  /** The address of its inspector; undefined without one. */
  inspector(): string | undefined
  /** Number of its starts. */
  lives(): number
  /** Settles when it is healthy. */
  start(): Promise<void>
  /** Ends it with SIGKILL. */
  kill(): Promise<void>
  /** Ends it with SIGTERM. */
  stop(): Promise<void>
  freeze(on: boolean): void
  /** Counts of its log lines of level error and above, by message. */
  errors(): ReadonlyMap<string, number>
  /** Ends it if it runs, in any state. */
  end(): Promise<void>
}

interface Place {
  /** The path of the program under test. */
  program: string
  port: number
  environment: Record<string, string>
  folder: string
}

export function createPanel({ program, port, environment, folder }: Place, findings: Findings): Panel {
  const url = `http://127.0.0.1:${port}`
  const errors = new Map<string, number>()
  let child: ChildProcess | undefined
  let inspector: string | undefined
  let lives = 0
  let asked = false
  const running = () => {
    if (!child) throw new Error('the service does not run')
    return child
  }

  const readLine = (line: string) => {
    inspector = /^Debugger listening on (ws:\S+)/.exec(line)?.[1] ?? inspector
    const [, level = '0'] = /^\{"level":(\d+)/.exec(line) ?? []
    const [, message = line] = /"msg":"([^"]*)"/.exec(line) ?? []
    if (Number(level) >= 50) errors.set(message, (errors.get(message) ?? 0) + 1)
  }

  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const one = running()
    asked = true
    const ended = isRunning() ? once(one, 'exit') : Promise.resolve()
    // A stopped process receives no other signal.
    one.kill('SIGCONT')
    one.kill(signal)
    const killer = setTimeout(() => one.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(killer)
    if (signal === 'SIGTERM' && one.exitCode !== 0)
      findings.add('stopped', `after SIGTERM it ended with ${one.exitCode ?? one.signalCode}`)
  }

  return {
    url,
    port,
    pid: () => running().pid ?? 0,
    inspector: () => inspector,
    lives: () => lives,
    async start() {
      const isScript = /\.(ts|mjs)$/.test(program)
      asked = false
      lives += 1
      const one = spawn(isScript ? process.execPath : program, isScript ? [...INSPECT, program] : [], {
        cwd: folder,
        env: { PATH: process.env.PATH ?? '', PANEL_PORT: String(port), ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      child = one
      for (const stream of [one.stdout, one.stderr]) forEachLine(stream, readLine)
      one.once('exit', (code, signal) => {
        if (!asked) findings.add('stopped', `it ended by itself with ${code ?? signal}`)
      })
      const until = Date.now() + START_MS
      while (!(await isHealthy(url))) {
        if (one.exitCode !== null || Date.now() > until)
          throw new Error(`the service did not start: ${[...errors.keys()]}`)
        await pause(50)
      }
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    freeze: (on) => void running().kill(on ? 'SIGSTOP' : 'SIGCONT'),
    errors: () => errors,
    end: async () => void (isRunning() && (await end('SIGKILL'))),
  }
}

function forEachLine(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
  })
}

function isHealthy(url: string): Promise<boolean> {
  return ask(`${url}/api/health`).then(
    ({ status }) => status === 200,
    () => false,
  )
}

/** Sends a request directly to the service, without the proxy, over a new connection. */
export async function ask(
  address: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: object } = {},
): Promise<{ status: number; text: string }> {
  const sent = body && ({ method: 'POST', body: JSON.stringify(body) } as const)
  const type = body && { 'content-type': 'application/json' }
  const response = await request(address, { ...sent, headers: { ...type, ...headers }, reset: true })
  return { status: response.statusCode, text: await response.body.text() }
}

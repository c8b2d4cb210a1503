import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const PROGRAM = join(import.meta.dirname, '../../serve/main.ts')
/** On a busy machine a start takes seconds. */
const SAY_MS = 30_000

/** Programs share their compile cache between runs: a start then takes half as long. */
export const STARTING_FAST = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/compiled') }

/** Runs the program in a separate process, with nothing of this environment but the search path. */
export function startProgram(env: Record<string, string>, ...args: string[]) {
  return startScript(PROGRAM, args, env)
}

/** Runs another script in the same way. */
export function startScript(script: string, args: readonly string[], env: Record<string, string>) {
  return startProcess(process.execPath, [script, ...args], env)
}

/** Runs it in the same way, at a terminal of its own. */
export function startAtTerminal(env: Record<string, string>, ...args: string[]) {
  const line = [process.execPath, PROGRAM, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  return startProcess('script', ['-qec', line, '/dev/null'], { SHELL: '/bin/sh', TERM: 'xterm', ...env })
}

/** Returns its exit code and its output. */
export async function runProgram(env: Record<string, string>, ...args: string[]) {
  const program = startProgram(env, ...args)
  program.endInput()
  const code = await program.ended
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

function startProcess(file: string, args: readonly string[], env: Record<string, string>) {
  const child = spawn(file, args, {
    env: { PATH: process.env.PATH ?? '', PANEL_PORT: '0', ...STARTING_FAST, ...env },
  })
  let [stdout, stderr] = ['', '']
  const listeners = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    for (const listen of listeners) listen()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    for (const listen of listeners) listen()
  })
  // It may exit before it has read all of its input.
  child.stdin.on('error', () => {})
  const ended = once(child, 'close').then(() => child.exitCode)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    pid: child.pid ?? 0,
    ended,
    type: (text: string) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Settles when it has written this text, on either stream. */
    said: (text: string) =>
      new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`« ${text} » was not said: ${stdout}${stderr}`)), SAY_MS)
        const listen = () => {
          if (!stdout.includes(text) && !stderr.includes(text)) return
          clearTimeout(late)
          listeners.delete(listen)
          resolve()
        }
        listeners.add(listen)
        listen()
        void ended.then(() => {
          clearTimeout(late)
          if (listeners.has(listen)) reject(new Error(`it ended without « ${text} »: ${stdout}${stderr}`))
        })
      }),
  }
}

import type { ServerChannel } from 'ssh2'
import type { User } from './account.ts'
import type { Run } from './pct.ts'
import { fail, type Machine, type Process } from './process.ts'
import { interactiveShell } from './shell.ts'
import { Stdin } from './stdin.ts'
import { splitWords } from './words.ts'

/** The environment of an account's shell, on a host with a French locale. */
const ENVIRONMENT = { LANG: 'fr_FR.UTF-8' }

interface Login {
  user: User
  machine: Machine
  run: Run
  /** Aborted when the host stops. */
  stopping: AbortSignal
}

/**
 * Imitates the account's shell in a channel: with one command line, or interactive without one. Ends the channel with
 * the exit code.
 */
export async function runLine(
  channel: ServerChannel,
  line: string | undefined,
  { user, machine, run, stopping }: Login,
  terminal?: Process['terminal'],
): Promise<void> {
  const closed = new AbortController()
  channel.once('close', () => closed.abort())
  // A write may come after the client has closed and before `close`; its callback settles it.
  channel.on('error', () => {})
  channel.stderr.on('error', () => {})
  const stdin = new Stdin()
  channel.on('data', (chunk: Buffer) => stdin.push(chunk))
  channel.once('end', () => stdin.end())
  const process: Process = {
    user,
    machine,
    place: machine.host,
    env: ENVIRONMENT,
    stdin,
    terminal,
    stdout: (data) => write(channel, terminal ? onScreen(data) : data, closed.signal),
    stderr: (data) => {
      if (terminal) return process.stdout(data)
      forgetPending(channel)
      return write(channel.stderr, data, closed.signal)
    },
    signal: AbortSignal.any([closed.signal, stopping]),
  }
  try {
    const code = await shell(line, process, run)
    if (closed.signal.aborted) return
    channel.exit(code)
    channel.end()
  } catch (error) {
    // Only a closed channel or a stopping host ends a program from outside.
    if (!process.signal.aborted) throw error
    channel.close()
  }
}

async function shell(line: string | undefined, process: Process, run: Run): Promise<number> {
  if (process.user.shell === 'nologin') {
    await process.stdout('This account is currently not available.\n')
    return 1
  }
  if (line === undefined) return interactiveShell(process, run)
  const words = splitWords(line)
  if (!words) return fail(process, 'sh: 1: Syntax error: Unterminated quoted string\n', 2)
  if (words.length === 0) return 0
  return (await run(words, process)) ?? fail(process, `sh: 1: ${words[0]}: not found\n`, 127)
}

/** Converts line ends of a program's output to CR LF, as a terminal does. */
function onScreen(data: string | Uint8Array): string | Uint8Array {
  return typeof data === 'string' ? data.replaceAll('\n', '\r\n') : data
}

/** Settles when the client's window has taken the data, or when the channel is closed, because nobody reads it then. */
function write(stream: NodeJS.WritableStream, data: string | Uint8Array, closed: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (closed.aborted) return resolve()
    const settle = () => {
      closed.removeEventListener('abort', settle)
      resolve()
    }
    closed.addEventListener('abort', settle)
    stream.write(data, settle)
  })
}

/**
 * ssh2 1.17 keeps the last piece of stdout that had to wait for the window, and sends it again when stderr has to
 * wait. All of stdout has left before stderr is written here, so the piece can be forgotten.
 */
function forgetPending(channel: ServerChannel): void {
  Reflect.set(channel, '_chunk', undefined)
  Reflect.set(channel, '_chunkcb', undefined)
}

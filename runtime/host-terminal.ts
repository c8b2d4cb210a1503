import { randomBytes } from 'node:crypto'
import type { ClientChannel, PseudoTtyOptions } from 'ssh2'
import { drain, takeEach } from './channel.ts'
import type { Command } from './command.ts'
import { type Elevation, elevateInTerminal } from './elevation.ts'
import { takeRestored } from './line-ends.ts'
import { SshError } from './ssh-connection.ts'

/** In characters. */
export interface TerminalSize {
  cols: number
  rows: number
}

export interface TerminalOptions extends TerminalSize {
  /**
   * A command that runs as root, and prints the two halves of a mark as one line, after which its output is to be passed on;
   * without it, it is the login shell of the service account.
   */
  enter?: (half: string, otherHalf: string) => Command
  /** Gives up opening it. */
  signal?: AbortSignal
}

/** A program on the host that runs in a terminal of its own. */
export interface HostTerminal {
  /**
   * Hands the output to `take` as it comes, and no more while a promise that it returned is pending. Resolves at its end, or
   * once the terminal is closed. To be called once.
   */
  read(take: (bytes: Buffer) => Promise<void> | undefined): Promise<void>
  /** Types. A promise settles when there is room for more. */
  write(bytes: Buffer): Promise<void> | undefined
  resize(size: TerminalSize): void
  /** How the program has ended: by a signal, as `KILL`, when the code is null. Rejects when the connection is lost before. */
  end: Promise<{ code: number | null; signal?: string }>
  /** Ends the program by a hangup. */
  close(): void
}

/** In the service at once: each is a process on the host, and somebody's attention. */
export const MOST_TERMINALS = 8
/** PAM may take 4 s for the password, and the container tool two on a busy host: what takes longer will not come. */
const ENTER_MS = 30_000
/** Before its shell begins, a program says a sentence or two. */
const MAX_PREAMBLE = 64 * 1024

/** The terminal that the host is asked for. */
export function pseudoTerminal({ cols, rows }: TerminalSize): PseudoTtyOptions {
  return { cols, rows, width: 0, height: 0, term: 'xterm-256color' }
}

/** A command that begins a shell as root, and what comes before that shell. */
export interface Entry {
  command: Command
  prompt: string
  mark: string
  password: string
}

/**
 * Prompt and mark are new each time. Neither stands in the command as it is printed: whatever echoes that (a shell that
 * traces what it runs, say) would be taken for sudo, and answered with the password.
 */
export function entry(enter: NonNullable<TerminalOptions['enter']>, mode: Elevation, password: string): Entry {
  const [half, otherHalf] = [`ops-panel-${word()}`, word()]
  const [asking, prompt] = [`ops-panel-${word()}`, word()]
  // sudo writes a sign of percent for two of them: sudo(8), -p.
  const command = elevateInTerminal(enter(half, otherHalf), mode, `${asking}%%${prompt}`)
  return { command, prompt: `${asking}%${prompt}`, mark: `${half}${otherHalf}`, password }
}

const word = () => randomBytes(12).toString('hex')

/**
 * Settles where the shell begins: nothing of what comes before is passed on. sudo has turned the echo off when it prints its
 * prompt, and only then is the password written. Gives how many returns stand before the end of the mark's line. Rejects
 * with what the program said last when it ends before, and closes the channel.
 */
export function enterShell(
  channel: ClientChannel,
  { prompt, mark, password }: Entry,
  { signal, cut }: { signal?: AbortSignal | undefined; cut(): void },
): Promise<number> {
  return new Promise((resolve, reject) => {
    let said: Buffer = Buffer.alloc(0)
    let answered = false
    const leave = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      channel.off('data', onData).off('close', onClose)
    }
    const fail = (message: string) => {
      leave()
      closeInTime(channel, cut)
      reject(new SshError('lost', message))
    }
    const onData = (bytes: Buffer) => {
      said = Buffer.concat([said, bytes])
      const begin = said.indexOf(mark)
      const end = begin < 0 ? -1 : said.indexOf('\n', begin)
      if (end >= 0) {
        leave()
        channel.pause()
        channel.unshift(said.subarray(end + 1))
        resolve(end - begin - mark.length)
      } else if (said.length > MAX_PREAMBLE) fail('le shell n’a pas commencé')
      else if (isLast(said, prompt)) {
        if (answered) return fail('sudo refuse le mot de passe du compte de service')
        answered = true
        channel.write(`${password}\n`)
      }
    }
    const onClose = () => fail(lastLine(said.toString().replaceAll(prompt, '')) || 'le shell n’a pas pu commencer')
    const onAbort = () => fail('le client est parti')
    const timer = setTimeout(() => fail(`le shell n’a pas commencé en ${ENTER_MS / 1000} s`), ENTER_MS)
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort)
    channel.on('data', onData).on('close', onClose)
  })
}

/** Whether nothing has been said since. */
const isLast = (said: Buffer, text: string) => said.subarray(-text.length).equals(Buffer.from(text))

/** What a program complained of, without what only a terminal understands. */
function lastLine(text: string): string | undefined {
  return text
    .replace(/[^\P{Cc}\n]/gu, '')
    .trimEnd()
    .split('\n')
    .at(-1)
    ?.trim()
    .slice(0, 300)
}

/** sshd confirms within milliseconds; until what has been typed is read, it does not, and the program is not hung up on. */
const CLOSE_MS = 2_000

function closeInTime(channel: ClientChannel, cut: () => void): void {
  channel.end()
  channel.close()
  drain(channel)
  const timer = setTimeout(cut, CLOSE_MS)
  channel.once('close', () => clearTimeout(timer))
}

/**
 * A channel as a terminal, whose lines end with one return too many where `returns` is more than the one of every terminal.
 * `onClose` is called once, when it ends or is closed; `cut`, when the host does not let go of a channel that was closed.
 */
export function hostTerminal(
  channel: ClientChannel,
  { returns, onClose, cut }: { returns: number; onClose(): void; cut(): void },
): HostTerminal {
  let closed = false
  const leave = () => {
    if (closed) return
    closed = true
    onClose()
  }
  // What is typed while the channel is closing comes too late.
  channel.on('error', () => {})
  channel.stderr.resume()
  const end = new Promise<{ code: number | null; signal?: string }>((resolve, reject) => {
    channel.once('close', (code?: number | null, signal?: string | null) => {
      leave()
      if (code === undefined) reject(new SshError('lost', 'la connexion a été perdue'))
      else resolve({ code, ...(signal && { signal: signal.replace(/^SIG/, '') }) })
    })
  })
  // Whoever closes it no longer asks.
  end.catch(() => {})
  return {
    read(take) {
      const takeOpen = (bytes: Buffer) => (closed ? undefined : take(bytes))
      const read = returns > 1 ? takeRestored(channel, takeOpen) : takeEach(channel, takeOpen)
      channel.resume()
      return read
    },
    write(bytes) {
      if (closed || channel.write(bytes)) return undefined
      return new Promise((resolve) => {
        const settle = () => {
          channel.off('drain', settle).off('close', settle)
          resolve()
        }
        channel.on('drain', settle).on('close', settle)
      })
    },
    resize({ cols, rows }) {
      if (!closed) channel.setWindow(rows, cols, 0, 0)
    },
    end,
    close() {
      if (closed) return
      leave()
      closeInTime(channel, cut)
    },
  }
}

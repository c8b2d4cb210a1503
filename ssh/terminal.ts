/*
 * Terminals on the host. The password prompt of sudo never appears on a user’s screen, and a hung program does not keep
 * its terminal open for good.
 */

import { randomBytes } from 'node:crypto'
import type { ClientChannel, PseudoTtyOptions } from 'ssh2'
import { drain, takeEach } from './channel.ts'
import { type Command, elevateInTerminal, type Elevation } from './command.ts'
import { SshError } from './connection.ts'
import { takeRestored } from './line-ends.ts'

/** In characters. */
export interface TerminalSize {
  cols: number
  rows: number
}

export interface TerminalOptions extends TerminalSize {
  /**
   * A command that runs as root and writes the two halves of a mark as one line; its output is passed on after that
   * line. Without a command, the login shell of the service account runs.
   */
  enter?: (half: string, otherHalf: string) => Command
  /** Aborts the opening. */
  signal?: AbortSignal
}

/** A program on the host that runs in its own terminal. */
export interface HostTerminal {
  /**
   * Passes the output to `take` as it arrives, and pauses while the promise that `take` returned is pending. Resolves
   * when the output ends or the terminal is closed. May be called once.
   */
  read(take: (bytes: Buffer) => Promise<void> | undefined): Promise<void>
  /** Sends input. A returned promise settles when there is room for more. */
  write(bytes: Buffer): Promise<void> | undefined
  resize(size: TerminalSize): void
  /**
   * Resolves to how the program ended: the code, or null and a signal such as `KILL`. Rejects when the connection is
   * lost before.
   */
  end: Promise<{ code: number | null; signal?: string }>
  /** Ends the program by a hangup. */
  close(): void
}

/** Limit on open terminals in the service: each one is a process on the host. */
export const MOST_TERMINALS = 8
/** Time limit for the start: PAM may take 4 s for the password, and the container tool 2 s on a busy host. */
const ENTER_MS = 30_000
/** Limit on the output before the shell begins, normally a sentence or two. */
const MAX_PREAMBLE = 64 * 1024

/** The terminal type requested from the host. */
export function pseudoTerminal({ cols, rows }: TerminalSize): PseudoTtyOptions {
  return { cols, rows, width: 0, height: 0, term: 'xterm-256color' }
}

/** A command that starts a shell as root, with the prompt and mark that precede that shell. */
export interface Entry {
  command: Command
  prompt: string
  mark: string
  password: string
}

/**
 * Prompt and mark are new each time. Neither appears in the command text: an echo of it, from a tracing shell for
 * example, would be mistaken for sudo and answered with the password.
 */
export function entry(enter: NonNullable<TerminalOptions['enter']>, mode: Elevation, password: string): Entry {
  const [half, otherHalf] = [`ops-panel-${word()}`, word()]
  const [asking, prompt] = [`ops-panel-${word()}`, word()]
  // sudo writes one percent sign for two of them: sudo(8), -p.
  const command = elevateInTerminal(enter(half, otherHalf), mode, `${asking}%%${prompt}`)
  return { command, prompt: `${asking}%${prompt}`, mark: `${half}${otherHalf}`, password }
}

const word = () => randomBytes(12).toString('hex')

/**
 * Resolves where the shell begins; no earlier output is passed on. sudo has turned the echo off when it writes its
 * prompt, and only then is the password sent. Returns the number of carriage returns before the end of the mark’s
 * line. If the program ends before, closes the channel and rejects with the program’s last line.
 */
export function enterShell(
  channel: ClientChannel,
  { prompt, mark, password }: Entry,
  { signal, cut }: { signal?: AbortSignal | undefined; cut(): void },
): Promise<number> {
  return new Promise((resolve, reject) => {
    let output: Buffer = Buffer.alloc(0)
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
      output = Buffer.concat([output, bytes])
      const begin = output.indexOf(mark)
      const end = begin < 0 ? -1 : output.indexOf('\n', begin)
      if (end >= 0) {
        leave()
        channel.pause()
        channel.unshift(output.subarray(end + 1))
        resolve(end - begin - mark.length)
      } else if (output.length > MAX_PREAMBLE) fail('le shell n’a pas démarré')
      else if (isLast(output, prompt)) {
        if (answered) return fail('sudo refuse le mot de passe du compte de service')
        answered = true
        channel.write(`${password}\n`)
      }
    }
    const onClose = () => {
      leave()
      // The channel is closed by itself: its connection may already carry another terminal, which a cut would end.
      const why = lastLine(output.toString().replaceAll(prompt, '')) || 'le shell n’a pas pu démarrer'
      reject(new SshError('lost', why))
    }
    const onAbort = () => fail('le client s’est déconnecté')
    const timer = setTimeout(() => fail(`le shell n’a pas démarré en ${ENTER_MS / 1000} s`), ENTER_MS)
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort)
    channel.on('data', onData).on('close', onClose)
  })
}

/** Says whether the output ends with this text. */
const isLast = (output: Buffer, text: string) => output.subarray(-text.length).equals(Buffer.from(text))

/** Returns the last line of an error message, without control characters. */
function lastLine(text: string): string | undefined {
  return text
    .replace(/[^\P{Cc}\n]/gu, '')
    .trimEnd()
    .split('\n')
    .at(-1)
    ?.trim()
    .slice(0, 300)
}

/**
 * sshd confirms a close within milliseconds, unless typed input is still unread; then it does not hang up the
 * program.
 */
const CLOSE_MS = 2_000

function closeInTime(channel: ClientChannel, cut: () => void): void {
  channel.end()
  channel.close()
  drain(channel)
  const timer = setTimeout(cut, CLOSE_MS)
  channel.once('close', () => clearTimeout(timer))
}

/**
 * Presents a channel as a terminal. If `returns` exceeds the one carriage return of every terminal, the extra ones
 * are removed. `onClose` is called once, when the terminal ends or is closed; `cut` is called when the host does not
 * release a closed channel.
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
  // Input sent while the channel closes is lost.
  channel.on('error', () => {})
  channel.stderr.resume()
  const end = new Promise<{ code: number | null; signal?: string }>((resolve, reject) => {
    channel.once('close', (code?: number | null, signal?: string | null) => {
      leave()
      if (code === undefined) reject(new SshError('lost', 'la connexion a été perdue'))
      else resolve({ code, ...(signal && { signal: signal.replace(/^SIG/, '') }) })
    })
  })
  // After a close, no caller awaits the end.
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

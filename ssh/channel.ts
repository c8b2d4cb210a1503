/*
 * Reads the output of commands with limits on time and size, so that a command with endless output neither fills the
 * memory nor holds its slot in the pool for good.
 */

import type { Readable } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import type { Failure } from '../runtime/errors.ts'
import { sshFailure } from './codes.ts'
import type { Rights, Verb } from './command.ts'
import { SshError } from './connection.ts'
import { ownPacket } from './socket.ts'

/** A command whose output is read while it runs. */
export interface HostStream {
  /**
   * Passes stdout to `take` as it arrives, and pauses while the promise that `take` returned is pending. The bytes
   * are the taker's, who may free their memory (`freeOwn`). Resolves when the output ends or the stream is closed;
   * rejects with the error of `take`. May be called once.
   */
  read(take: (bytes: Buffer) => Promise<void> | undefined): Promise<void>
  /**
   * Resolves to all of stderr and the exit code after the command has ended. Rejects when the connection is lost
   * before.
   */
  end: Promise<Omit<Output, 'stdout'>>
  /** Ends the command’s stdin and closes the channel. */
  close(): void
}

/**
 * The rights with which a command runs, and the verb for the host helper where the account has rights only through
 * it.
 */
export interface RunOptions {
  rights?: Rights
  verb?: Verb
}

/** `stderr` receives each piece of stderr as it arrives. */
export interface StreamOptions extends RunOptions {
  stderr?(bytes: Buffer): void
}

/** `user` is the user who reads from the host: each user has a share of the concurrent commands. */
export interface ExecOptions extends RunOptions {
  timeoutMs?: number
  user?: number
}

export interface Output {
  /** Exit code; null when a signal ended the command. */
  code: number | null
  stdout: string
  stderr: string
}

/** Limit for the output of `exec`. A longer output is an error or an attack, and must not fill the memory. */
const MAX_OUTPUT = 4 * 1024 * 1024

/** The output of the host or of a container exceeds the limit. None of it is returned. */
export class AnswerTooLong extends SshError {
  constructor(limit: string) {
    super('lost', `la réponse de l’hôte dépasse ${limit}`)
  }

  override toFailure(): Failure {
    return sshFailure('host_answer_too_long', { cause: this, values: { message: this.message } })
  }
}

/** Waits up to `timeoutMs` for a channel to open, then rejects; a channel that opens later is closed. */
export function inTime(opening: Promise<ClientChannel>, timeoutMs: number): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    let late = false
    const timer = setTimeout(() => {
      late = true
      reject(new SshError('lost', `l’hôte n’a pas répondu en ${timeoutMs / 1000} s`))
    }, timeoutMs)
    opening
      .finally(() => clearTimeout(timer))
      .then((channel) => {
        if (!late) return resolve(channel)
        channel.close()
        drain(channel)
      }, reject)
  })
}

/**
 * Reads a channel to its end. If the command takes too long or writes too much, closes the channel and rejects;
 * `ofMs` is the whole time limit, for the message.
 */
export async function collect(channel: ClientChannel, timeoutMs: number, ofMs = timeoutMs): Promise<Output> {
  const tooSlow = new SshError('lost', `la commande n’a pas répondu en ${ofMs / 1000} s`)
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow), timeoutMs)
  })
  const output = Promise.all([exitOf(channel), limitedText(channel), limitedText(channel.stderr)])
  try {
    const [code, stdout, stderr] = await Promise.race([output, deadline])
    return { code, stdout, stderr }
  } catch (error) {
    // A command that still writes is ended by the closed pipe.
    channel.close()
    // ssh2 reports the close of a channel, which frees its slot in the pool, only after all of its output was read.
    drain(channel)
    throw error
  } finally {
    clearTimeout(timer)
    output.catch(() => {})
  }
}

/**
 * Resolves to the exit code (null after a signal) when the channel has closed; rejects when it closed without either.
 * The `exit` event is not used: it may arrive in the packet that confirms the open, before a listener exists.
 */
export function exitOf(channel: ClientChannel): Promise<number | null> {
  return new Promise((resolve, reject) => {
    channel.once('close', (code?: number | null) => {
      if (code === undefined) reject(new SshError('lost', 'la connexion a été perdue'))
      else resolve(code)
    })
  })
}

/** Discards the rest of a channel’s output; otherwise ssh2 never reports its end. May be called twice. */
export function drain(channel: ClientChannel): void {
  for (const stream of [channel, channel.stderr]) {
    // Without such listeners, removing them would pause a stream that already flows.
    if (stream.listenerCount('readable') > 0) stream.removeAllListeners('readable')
    stream.resume()
  }
}

/** Presents a channel as a stream. `seen` receives each piece of stderr as it arrives. */
export function hostStream(channel: ClientChannel, seen?: (bytes: Buffer) => void): HostStream {
  const stderr = limitedText(channel.stderr, seen)
  const exit = exitOf(channel)
  let closed = false
  return {
    read: (take) => takeEach(channel, (bytes) => (closed ? undefined : take(ownPacket(bytes)))),
    end: Promise.all([exit, stderr]).then(([code, text]) => ({ code, stderr: text })),
    close() {
      closed = true
      channel.end()
      channel.close()
      drain(channel)
    },
  }
}

/**
 * Passes each chunk of a stream to `take` as it arrives, and pauses while the promise that `take` returned is
 * pending. Resolves after the last chunk was taken; rejects with the error of `take` or of the stream. An async
 * iterator is not used, because it joins all waiting chunks in new memory.
 */
export function takeEach(stream: Readable, take: (bytes: Buffer) => Promise<void> | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let last: Promise<void> | undefined
    const leave = () => stream.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', fail)
    const fail = (error: unknown) => {
      leave()
      reject(error)
    }
    // The `end` event may fire while the last chunk is still being taken.
    const onEnd = () => {
      leave()
      if (last) last.then(resolve, reject)
      else resolve()
    }
    const onData = (bytes: Buffer) => {
      try {
        last = take(bytes)
        if (!last) return
        stream.pause()
        last.then(() => stream.resume(), fail)
      } catch (error) {
        fail(error)
      }
    }
    if (stream.readableEnded || stream.destroyed) return resolve()
    stream.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', fail)
  })
}

/**
 * Reads a whole stream as text, and passes each piece to `seen`; rejects with an AnswerTooLong when it exceeds the
 * limit.
 */
export async function limitedText(stream: AsyncIterable<Buffer>, seen?: (bytes: Buffer) => void): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > MAX_OUTPUT) throw new AnswerTooLong(`${MAX_OUTPUT / 1024 / 1024} Mio`)
    chunks.push(chunk)
    seen?.(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Maximum number of lines: more than the containers of a host or the upgradable packages of a container. */
const MOST = 10_000
/** Maximum length of a line in characters, far above the longest real one. */
const LINE = 4_096
/** Work per turn of the event loop, in lines and in characters: about two milliseconds. */
const A_TURN = { lines: 500, length: 64 * 1024 }

/**
 * Parses the lines of an answer with `read`, and omits each line for which it returns undefined. Yields to the event
 * loop between batches. Rejects with an AnswerTooLong for more than ten thousand lines or a line of more than 4,096
 * characters, and never returns part of a list.
 */
export async function readLines<item>(text: string, read: (line: string) => item | undefined): Promise<item[]> {
  const items: item[] = []
  let turn = { lines: 0, from: 0 }
  for (let at = 0; at <= text.length; ) {
    const found = text.indexOf('\n', at)
    const end = found < 0 ? text.length : found
    if (end - at > LINE) throw new AnswerTooLong(`une ligne de ${LINE} caractères`)
    const item = read(text.slice(at, end))
    if (item !== undefined) items.push(item)
    if (items.length > MOST) throw new AnswerTooLong(`${MOST} éléments`)
    at = end + 1
    turn.lines += 1
    if (turn.lines >= A_TURN.lines || at - turn.from >= A_TURN.length) {
      turn = { lines: 0, from: at }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return items
}

/** Maximum characters of a program’s error message inside our own sentence. */
const MOST_WORDS = 1_000

/**
 * Returns the output of a command that ended with code 0; otherwise throws an SshError with the last line of its
 * stderr.
 */
export function succeeded({ code, stdout, stderr }: Output): string {
  if (code === 0) return stdout
  throw commandFailure({ code, stderr })
}

/** `sudo -n` would ask: the account has a key and no password, and no rule without a password allows the command. */
const SUDO_ASKS = 'sudo demande un mot de passe que le panneau n’a pas ; « ops-panel doctor » dit quelle règle ajouter'

/** Creates the SshError of a command that has failed, with the last line of its error output. */
export function commandFailure({ code, stderr }: Pick<Output, 'code' | 'stderr'>): SshError {
  const words = stderr.trimEnd()
  const last = words.slice(words.lastIndexOf('\n') + 1).trim()
  if (last === 'sudo: a password is required') return new SshError('lost', SUDO_ASKS)
  return new SshError('lost', last.slice(0, MOST_WORDS) || `la commande s’est terminée avec le code ${code ?? '?'}`)
}

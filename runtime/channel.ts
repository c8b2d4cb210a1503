import type { Readable } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import { SshError } from './ssh-connection.ts'

export interface Output {
  /** Exit code; null when a signal ended the command. */
  code: number | null
  stdout: string
  stderr: string
}

/** Nothing asked with `exec` answers at length: more is a mistake or malice, and must not fill the memory. */
const MAX_OUTPUT = 4 * 1024 * 1024

/** What the host, or a container, answers is longer than any answer that is asked for: nothing of it is told. */
export class AnswerTooLong extends SshError {
  constructor(limit: string) {
    super('lost', `la réponse de l’hôte dépasse ${limit}`)
  }
}

/** A channel that is being opened; one that comes too late is closed, and rejected before. */
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

/** Reads a channel to its end. Too slow or too long, and it is closed and rejected; `ofMs` is what was agreed in all. */
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
    // What goes on printing is ended by the closed pipe.
    channel.close()
    // ssh2 tells the end of a channel, and the pool has its place back, once all of its output has been taken.
    drain(channel)
    throw error
  } finally {
    clearTimeout(timer)
    output.catch(() => {})
  }
}

/**
 * The exit code, null after a signal, once the channel has closed; rejects when it closed without either. Not by the
 * `exit` event: it may come in the same packet as the answer to the open, before anybody could listen.
 */
export function exitOf(channel: ClientChannel): Promise<number | null> {
  return new Promise((resolve, reject) => {
    channel.once('close', (code?: number | null) => {
      if (code === undefined) reject(new SshError('lost', 'la connexion a été perdue'))
      else resolve(code)
    })
  })
}

/** Takes and forgets what is left of a channel, without which ssh2 never tells its end. May be asked for twice. */
export function drain(channel: ClientChannel): void {
  for (const stream of [channel, channel.stderr]) {
    // Where there are none, that would stop a moment later what flows already.
    if (stream.listenerCount('readable') > 0) stream.removeAllListeners('readable')
    stream.resume()
  }
}

/**
 * Hands each piece of a stream to `take` as it comes, and no more while a promise that it returned is pending. Resolves at
 * the end of the stream, once the last piece is taken; rejects with what `take` throws or rejects with, or with the stream's
 * error. Not by an iterator: that one joins all that waits into new memory first.
 */
export function takeEach(stream: Readable, take: (bytes: Buffer) => Promise<void> | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let last: Promise<void> | undefined
    const leave = () => stream.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', fail)
    const fail = (error: unknown) => {
      leave()
      reject(error)
    }
    // The end may be told while the last piece is still being taken.
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

/** The whole of a stream as text; rejects with an AnswerTooLong when it is longer than any answer that is asked for. */
export async function limitedText(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.length
    if (size > MAX_OUTPUT) throw new AnswerTooLong(`${MAX_OUTPUT / 1024 / 1024} Mio`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

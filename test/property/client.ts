import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'

/** A complete request: the client adds nothing to it. */
export interface WireRequest {
  method: string
  target: string
  headers: readonly (readonly [name: string, value: string])[]
  body: string | Uint8Array
  /** How the body ends; `declared` is a Content-Length that may be wrong, `coding` a Transfer-Encoding. */
  framing: 'none' | 'length' | 'chunked' | { declared: string } | { coding: string }
  /** Bytes to send after the connection has become a socket. */
  after?: Uint8Array
}

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/**
 * `waiting`: the service rightly waits for the rest of a body. `cut`: it closed the connection because of invalid bytes
 * after a body, so the end of its answer may be lost. `closeCode` is undefined while the socket is open.
 */
export type Outcome =
  | { kind: 'answer'; answer: Answer }
  | { kind: 'opened'; closeCode: number | undefined }
  | { kind: 'waiting' }
  | { kind: 'cut' }

/** The time without an answer after which the service counts as waiting for the rest of a body. */
const WAITING_MS = 150
/** The time to listen to a socket that stays open. */
const LISTENING_MS = 60

/** Sends one request and returns its outcome. Rejects when no complete answer arrives in time. */
export async function exchange(url: string, agent: Agent, sent: WireRequest, withinMs: number): Promise<Outcome> {
  const { connection, outcome } = once(url, agent, sent, withinMs)
  try {
    return await outcome
  } catch (error) {
    // The service closed the idle connection at that very moment. Every client repeats its request then.
    if (connection.reusedSocket && isReset(error)) return await once(url, agent, sent, withinMs).outcome
    if (isLong(sent.framing, Buffer.byteLength(sent.body)) && isReset(error)) return { kind: 'cut' }
    throw error
  }
}

function once(url: string, agent: Agent, sent: WireRequest, withinMs: number) {
  const { hostname, port } = new URL(url)
  const { method, target: path, body } = sent
  const bytes = Buffer.from(body)
  // After a wrong length or an upgrade no other request can use the connection.
  const alone = typeof sent.framing === 'object' || sent.headers.some(([name]) => name.toLowerCase() === 'upgrade')
  const connection = request({
    hostname,
    port,
    method,
    path,
    headers: framed(sent, bytes.length).flat(),
    agent: alone ? false : agent,
  })
  const outcome = new Promise<Outcome>((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new Error(`no answer within ${withinMs} ms`))), withinMs)
    const patience = setTimeout(
      () => isShort(sent.framing, bytes.length) && end(() => resolve({ kind: 'waiting' })),
      WAITING_MS,
    )
    const end = (settle: () => void) => {
      clearTimeout(timer)
      clearTimeout(patience)
      settle()
      if (alone || !connection.writableEnded) connection.destroy()
    }
    const closed = () => end(() => reject(new Error('the connection was closed without an answer')))
    connection.on('response', (response) => {
      clearTimeout(patience)
      connection.off('close', closed)
      read(response).then(
        (answer) => end(() => resolve({ kind: 'answer', answer })),
        (error) => end(() => reject(error)),
      )
    })
    connection.on('upgrade', (_, socket, head) => {
      clearTimeout(patience)
      connection.off('close', closed)
      listen(socket, head, sent.after).then((closeCode) => end(() => resolve({ kind: 'opened', closeCode })))
    })
    connection.on('error', (error) => end(() => reject(error)))
    connection.on('close', closed)
    connection.end(bytes)
  })
  return { connection, outcome }
}

function framed({ headers, framing }: WireRequest, length: number): (readonly [string, string])[] {
  if (framing === 'none') return [...headers]
  if (framing === 'length') return [...headers, ['Content-Length', String(length)]]
  if (framing === 'chunked') return [...headers, ['Transfer-Encoding', 'chunked']]
  if ('declared' in framing) return [...headers, ['Content-Length', framing.declared]]
  return [...headers, ['Transfer-Encoding', framing.coding]]
}

/** Whether the body is shorter than announced, or its end is never sent. */
function isShort(framing: WireRequest['framing'], length: number): boolean {
  if (typeof framing !== 'object') return false
  return 'coding' in framing || (/^\d+$/.test(framing.declared) && Number(framing.declared) > length)
}

/** Whether the body is longer than announced. */
function isLong(framing: WireRequest['framing'], length: number): boolean {
  return typeof framing === 'object' && 'declared' in framing && Number(framing.declared) < length
}

async function read(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(Buffer.from(chunk))
  const { statusCode: status = 0, headers } = response
  return { status, headers, body: Buffer.concat(chunks).toString() }
}

/** Reads a socket until it is closed, and returns the close code. */
async function listen(socket: Duplex, head: Buffer, after: Uint8Array | undefined): Promise<number | undefined> {
  let received = head
  if (after && after.length > 0) socket.write(after)
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LISTENING_MS)
    const done = () => {
      clearTimeout(timer)
      resolve()
    }
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (closeCode(received) !== undefined) done()
    })
    socket.on('error', done)
    socket.on('close', done)
    if (closeCode(received) !== undefined) done()
  })
  socket.destroy()
  return closeCode(received)
}

/** The code of the close frame among a server's frames (RFC 6455, 5.2: not masked). */
export function closeCode(bytes: Buffer): number | undefined {
  for (let at = 0; at + 2 <= bytes.length; ) {
    const short = bytes[at + 1] ?? 0
    const start = at + (short === 127 ? 10 : short === 126 ? 4 : 2)
    if (start > bytes.length) return undefined
    const length =
      short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short
    if (((bytes[at] ?? 0) & 0x0f) === 8 && start + 2 <= bytes.length) return bytes.readUInt16BE(start)
    at = start + length
  }
  return undefined
}

function isReset(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

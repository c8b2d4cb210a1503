import { once } from 'node:events'
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { answer } from './child.ts'

const Question = z.discriminatedUnion('what', [
  z.object({ what: z.literal('connect'), port: z.number(), subscribers: z.number(), bytes: z.number() }),
  z.object({
    what: z.literal('subscribe'),
    url: z.string(),
    token: z.string(),
    job: z.string(),
    subscribers: z.number(),
    bytes: z.number(),
  }),
  z.object({ what: z.literal('await') }),
])

const DONE = 1000
const HEAD = /^\{"type":"(\w+)","topic":"[^"]*","seq":(\d+),/

let round = 0
let received: Promise<unknown> = Promise.resolve()

/** Connects many subscribers in one process, then reports when the last of them has the whole output. */
answer(Question, async (question) => {
  if (question.what === 'await') {
    await received
    return performance.timeOrigin + performance.now()
  }
  round += 1
  const each = Array.from({ length: question.subscribers }, (_, n) =>
    question.what === 'connect' ? plain(question) : subscriber(question, n),
  )
  received = Promise.all(each.map(async (one) => (await one).received))
  received.catch(() => {})
  await Promise.all(each)
  return null
})

async function plain({ port, bytes }: { port: number; bytes: number }): Promise<{ received: Promise<void> }> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let size = 0
  const whole = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk) => {
      size += chunk.length
      if (size < bytes) return
      socket.destroy()
      resolve()
    })
    socket.on('close', () => reject(new Error(`${size} bytes arrived instead of ${bytes}`)))
  })
  return { received: whole }
}

/** Settles when the first output arrives, so that the rest arrives live. */
async function subscriber(
  { url, token, job, bytes }: { url: string; token: string; job: string; bytes: number },
  n: number,
): Promise<{ received: Promise<void> }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws/updates/${job}`, {
    // Each has an address of its own, because openings are limited by address.
    headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': `127.${round}.${n >> 8}.${n & 255}` },
    perMessageDeflate: false,
  })
  let [last, size] = ['', 0]
  const begun = new Promise<void>((resolve, reject) => {
    socket.once('message', () => resolve())
    socket.once('error', reject)
  })
  socket.on('message', (frame) => {
    if (!Buffer.isBuffer(frame)) return
    const [, type = '', seq = ''] = HEAD.exec(frame.toString('latin1', 0, 200)) ?? []
    last = type
    size = Number(seq)
  })
  const whole = new Promise<void>((resolve, reject) => {
    socket.once('close', (code) => {
      if (code === DONE && last === 'update_done' && size === bytes) resolve()
      else reject(new Error(`closed with ${code} after ${last} at ${size} instead of ${bytes}`))
    })
  })
  whole.catch(() => {})
  await begun
  return { received: whole }
}

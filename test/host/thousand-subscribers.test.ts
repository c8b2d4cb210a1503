import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { jobFolder } from './begun.ts'
import { type Caller, freshAddress, record, signIn } from './client.ts'
import { follow } from './follower.ts'
import { startJob } from './job.ts'
import { inside, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

const SUBSCRIBERS = 1_000
/** Long lines, so that the kernel's buffers of a subscriber that does not read fill up during the job. */
const LINES = 160
const LINE = 40_000
const MINUTES = 300_000

let service: Service
let bob: Caller
beforeAll(async () => {
  await rig('reset')
  // rig-slow prints the number of its lines in each line; the text after the digits makes the lines long.
  await inside('host', `printf '%s%0${LINE}d 200' ${LINES}x 0 >/etc/rig/slow`)
  service = await startService()
  bob = await signIn(service, 'bob')
  return async () => {
    await service.stop()
    await rig('reset')
  }
})

test('a thousand subscribers get a job’s whole output, and one that stops reading harms nobody', {
  timeout: MINUTES,
}, async () => {
  const id = await startJob(bob, 'host')
  const folder = await jobFolder(id, service.database)
  await inside('host', `until ln /var/tmp/ops-panel-jobs-*/${folder}/output ${KEPT} 2>/dev/null; do sleep 0.02; done`)
  const frames = frameStore()
  const stalled = await subscribe(id, frames)
  stalled.pause()
  const others = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => subscribe(id, frames)))

  const codes = await Promise.all(others.map(({ closed }) => closed))
  const { status, finished_at } = await record(bob, id)

  // No subscriber had to reconnect, and the job did not wait for the stalled one.
  expect(new Set(codes)).toEqual(new Set([1000]))
  expect(status).toBe('success')
  const [host = '', writtenAt] = (await inside('host', `sha256sum <${KEPT}; stat -c %Y ${KEPT}`)).split(/ .*\n/)
  expect(Date.parse(finished_at ?? '') / 1000 - Number(writtenAt)).toBeLessThan(10)
  const size = Number(await inside('host', `stat -c %s ${KEPT}`))
  expect(size).toBeGreaterThan(LINES * LINE)
  expect(new Set(others.map((one) => JSON.stringify(one.summary())))).toEqual(
    new Set([JSON.stringify({ contiguous: true, size, sha256: host, last: 'update_done' })]),
  )

  stalled.resume()
  expect(await stalled.closed).toBe(1013)
  const had = stalled.output()
  expect(had.length).toBeLessThan(size)
  const back = await follow(service, id, { token: bob.token, from: had.length })
  expect(await back.closed).toBe(1000)
  expect(back.frames.at(-1)).toMatchObject({ type: 'update_done', seq: size })
  expect(sha256([had, Buffer.from(back.output())])).toBe(host)
})

interface Subscriber {
  /** Stops reading, so that sent frames wait. */
  pause(): void
  resume(): void
  output(): Buffer
  summary(): { contiguous: boolean; size: number; sha256: string; last: string | undefined }
  /** The code that the service closed the socket with. */
  closed: Promise<number>
}

/** Subscribes as a proxy's client with a new address, because new sockets are limited by address. */
async function subscribe(id: string, store: FrameStore): Promise<Subscriber> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws/updates/${id}`, {
    headers: { authorization: `Bearer ${bob.token}`, 'x-forwarded-for': freshAddress() },
    perMessageDeflate: false,
  })
  const frames: Parsed[] = []
  socket.on('message', (data) => {
    if (Buffer.isBuffer(data)) frames.push(store.parsed(data))
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.once('error', reject)
  })
  socket.on('error', () => {})
  const chunks = () => frames.map(({ chunk }) => chunk)
  return {
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    output: () => Buffer.concat(chunks()),
    summary: () => ({ ...store.sum(frames), last: frames.at(-1)?.type }),
    closed,
  }
}

const Frame = z.object({
  type: z.string(),
  seq: z.number(),
  data: z.object({ chunk: z.string().optional() }),
})

interface Parsed {
  number: number
  bytes: Buffer
  type: string
  seq: number
  chunk: Buffer
}

type FrameStore = ReturnType<typeof frameStore>

/** Parses and keeps equal frames once, because a thousand subscribers get the same bytes. */
function frameStore() {
  const known = new Map<string, Parsed[]>()
  const sums = new Map<string, { contiguous: boolean; size: number; sha256: string }>()
  let count = 0
  return {
    parsed(bytes: Buffer): Parsed {
      const key = `${bytes.length} ${bytes.toString('latin1', 0, 100)}`
      const alike = known.get(key) ?? []
      known.set(key, alike)
      const found = alike.find((one) => one.bytes.equals(bytes))
      if (found) return found
      const { type, seq, data } = Frame.parse(JSON.parse(bytes.toString()))
      const fresh = { number: count++, bytes: Buffer.from(bytes), type, seq, chunk: Buffer.from(data.chunk ?? '') }
      alike.push(fresh)
      return fresh
    },
    /** Returns the summary of a sequence of frames, computed once for equal sequences. */
    sum(frames: readonly Parsed[]) {
      const key = frames.map(({ number }) => number).join(' ')
      const said = sums.get(key) ?? summed(frames)
      sums.set(key, said)
      return said
    },
  }
}

function summed(frames: readonly Parsed[]): { contiguous: boolean; size: number; sha256: string } {
  let size = 0
  let contiguous = true
  for (const { seq, chunk } of frames) {
    size += chunk.length
    contiguous &&= seq === size
  }
  return { contiguous, size, sha256: sha256(frames.map(({ chunk }) => chunk)) }
}

function sha256(parts: readonly Buffer[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

const KEPT = '/var/tmp/kept-output'

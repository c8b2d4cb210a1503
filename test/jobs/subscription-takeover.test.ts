import { expect, test } from 'vitest'
import * as z from 'zod'
import { endJob, findJob, setPhase } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { removeOldOutput } from '../../db/output.ts'
import { finalEvent, outputEvent, phaseEvent } from '../../jobs/events.ts'
import { subscribeToJob, subscribeToLiveOutput } from '../../jobs/subscription.ts'
import { createHub } from '../../platform/hub.ts'
import type { Socket } from '../../runtime/socket.ts'
import { openMigrated } from '../db/database.ts'
import { appendOutput, recordJob } from '../db/job.ts'
import { startDemo } from '../runtime/demo.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'
import { jobService } from './job-service.ts'

const TOPIC = 'update:job'
const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
const Event = z.object({ type: z.string(), seq: z.number(), data: z.object({ chunk: z.string().optional() }) })

/** A socket that records its frames. A test sets how many bytes are unsent. */
function recordingSocket() {
  const closed = new AbortController()
  const events: z.infer<typeof Event>[] = []
  let reason: string | undefined
  let waiting = 0
  const socket: Socket = {
    async send({ bytes }) {
      events.push(Event.parse(JSON.parse(bytes.toString())))
    },
    bufferedBytes: () => waiting,
    receive() {},
    close(why) {
      reason ??= why
      closed.abort()
    },
    fail() {
      reason ??= 'failed'
      closed.abort()
    },
    closed: closed.signal,
  }
  return {
    socket,
    events,
    reason: () => reason,
    wait(bytes: number) {
      waiting = bytes
    },
    /** The output that it received, which must begin at byte `from`, without gaps between the pieces. */
    text(from = 0) {
      let text = ''
      for (const { type, seq, data } of events) {
        if (type !== 'update_output') continue
        text += data.chunk ?? ''
        expect(seq).toBe(from + Buffer.byteLength(text))
      }
      return text
    },
  }
}

/** A job whose output a test stores and publishes itself, in the place of any instance. */
async function storedJob() {
  const db = await openMigrated()
  const hub = createHub()
  const job = await recordJob(db, 'job')
  const asked: number[] = []
  let size = 0
  const store = async (text: string, by: Database = db) => {
    const chunk = { offset: size, bytes: Buffer.from(text) }
    await appendOutput(by, job, chunk, 0)
    size += chunk.bytes.length
    return chunk
  }
  const publish = (chunk: { offset: number; bytes: Buffer }) => hub.publish(TOPIC, outputEvent('update', chunk))
  const jobs = { relay: (_event: string, _id: string, from: number) => void asked.push(from) }
  return {
    db,
    hub,
    job,
    asked,
    store,
    publish,
    async end() {
      await endJob(db, job, SUCCESS, { now: '' })
      const row = await findJob(db, 'job')
      return () => hub.finish(TOPIC, row && finalEvent('update', row))
    },
    async subscribe(from = 0, query: Database = db) {
      const client = recordingSocket()
      const done = subscribeToJob({ db: query, hub, jobs }, client.socket, 'update', 'job', from)
      return { ...client, done }
    },
  }
}

test('a subscriber that receives a piece after a gap gets the missing output first', async () => {
  const { store, publish, subscribe, asked } = await storedJob()
  publish(await store('un, '))
  const { done, text } = await subscribe()
  await done
  // Another instance stores this piece, and publishes nothing here.
  await store('deux, ')
  publish(await store('trois'))

  await expect.poll(() => text()).toBe('un, deux, trois')
  expect(asked).toEqual([4, 15])
})

test('a piece that is published twice is sent once', async () => {
  const { store, publish, subscribe } = await storedJob()
  const { done, text } = await subscribe()
  await done
  const one = await store('un, ')
  publish(one)
  publish(one)
  const two = await store('deux')
  publish(two)
  publish(one)
  publish(two)

  expect(text()).toBe('un, deux')
})

test('the part of a piece that was sent already is not sent again', async () => {
  const { store, publish, subscribe } = await storedJob()
  await store('un, ')
  const { done, text } = await subscribe(2)
  await done
  await store('deux, ')
  publish({ offset: 0, bytes: Buffer.from('un, deux, ') })
  publish(await store('trois'))

  await expect.poll(() => text(2)).toBe(', deux, trois')
})

test('a subscriber that has more than is stored, as after a rollback of the service’s data, gets only what follows', async () => {
  const { db, hub, job, store, publish, subscribe, end } = await storedJob()
  publish(await store('un, '))
  const { done, text, events, reason } = await subscribe(6)
  await done
  // The rest comes once more, cut otherwise than before.
  publish(await store('d'))
  await setPhase(db, job, { phase: 'settling', at: '' })
  hub.publish(TOPIC, phaseEvent('update', 5, 'settling'))
  await expect.poll(() => events).toHaveLength(1)
  publish(await store('eux, tr'))
  publish(await store('ois'))
  await expect.poll(() => text(6)).toBe('ux, trois')
  ;(await end())()

  await expect.poll(reason).toBe('done')
  expect(events[0]).toMatchObject({ type: 'update_phase', seq: 6 })
  expect(events.every(({ seq }) => seq >= 6)).toBe(true)
  expect(events.at(-1)).toMatchObject({ type: 'update_done', seq: 15 })
})

test('an end that is published before the last output is sent after it', async () => {
  const { store, subscribe, end } = await storedJob()
  const { done, text, events, reason } = await subscribe()
  await done
  await store('nobody tells of this')
  const publishEnd = await end()
  publishEnd()

  await expect.poll(reason).toBe('done')
  expect(text()).toBe('nobody tells of this')
  expect(events.at(-1)).toMatchObject({ type: 'update_done', seq: 20 })
  expect(events.filter(({ type }) => type === 'update_done')).toHaveLength(1)
})

test('output that arrives while a gap is being filled is sent after it, in order and once', async () => {
  const { db, store, publish, subscribe, end } = await storedJob()
  let hold = Promise.resolve()
  let release = () => {}
  const slow: Database = {
    ...db,
    async query(row, sql, args) {
      await hold
      return db.query(row, sql, args)
    },
  }
  const { done, text, events, reason } = await subscribe(0, slow)
  await done
  hold = new Promise((resolve) => {
    release = resolve
  })
  await store('a')
  publish(await store('b'))
  publish(await store('c'))
  await store('d')
  publish(await store('e'))
  const publishEnd = await end()
  publishEnd()
  expect(events).toEqual([])
  release()

  await expect.poll(reason).toBe('done')
  expect(text()).toBe('abcde')
  expect(events.at(-1)).toMatchObject({ type: 'update_done', seq: 5 })
})

test('output that is published between the last read and the first live frame is neither lost nor repeated', async () => {
  const { db, store, publish, subscribe } = await storedJob()
  await store('un, ')
  let reads = 0
  const busy: Database = {
    ...db,
    async query(row, sql, args) {
      const rows = await db.query(row, sql, args)
      reads += 1
      // After each of the first reads, which miss it, and after the tenth, which finds no more output.
      if (reads <= 6 || reads === 10) publish(await store(`${reads}, `))
      return rows
    },
  }
  const { done, text } = await subscribe(0, busy)
  await done

  expect(text()).toBe('un, 1, 2, 3, 4, 5, 6, 10, ')
  publish(await store('fin'))
  expect(text()).toBe('un, 1, 2, 3, 4, 5, 6, 10, fin')
})

test('output that retention has removed is skipped, also in the middle of a job', async () => {
  const { db, store, subscribe, end } = await storedJob()
  for (let at = 0; at < 130; at += 1) await store('0123456789')
  await end()
  await removeOldOutput(db, { kind: 'upgrade', keep: 0 })

  const { done, events, reason, text } = await subscribe(3)
  await done

  expect(reason()).toBe('done')
  expect(text(1280)).toBe('01234567890123456789')
  expect(events.at(-1)).toMatchObject({ type: 'update_done', seq: 1300 })
})

test('a subscriber with more than a mebibyte of unsent output is closed as too slow, and no other', async () => {
  const { store, publish, subscribe } = await storedJob()
  const [slow, quick] = [await subscribe(), await subscribe()]
  await Promise.all([slow.done, quick.done])
  slow.wait(1024 * 1024 + 1)
  quick.wait(1024 * 1024)

  publish(await store('un'))

  expect([slow.reason(), quick.reason()]).toEqual(['tooSlow', undefined])
  expect([slow.text(), quick.text()]).toEqual(['', 'un'])
})

test('a database failure while a gap is being filled closes the subscription as failed', async () => {
  const { db, store, publish, subscribe } = await storedJob()
  let failing = false
  const flaky: Database = {
    ...db,
    query: (row, sql, args) => (failing ? Promise.reject(new Error('away')) : db.query(row, sql, args)),
  }
  const { done, reason, text } = await subscribe(0, flaky)
  await done
  failing = true
  await store('un')
  publish(await store('deux'))

  await expect.poll(reason).toBe('failed')
  expect(text()).toBe('')
})

test('a subscriber of live output gets no piece twice during a takeover', async () => {
  const { db, hub, store, publish } = await storedJob()
  await store('avant, ')
  const client = recordingSocket()
  const asked: number[] = []
  const jobs = { relay: (_event: string, _id: string, from: number) => void asked.push(from) }
  await subscribeToLiveOutput({ db, hub, jobs }, client.socket, 'update', 'job')
  const one = await store('un, ')
  publish(one)
  publish(one)
  publish(await store('deux'))

  expect(client.text(7)).toBe('un, deux')
  expect(asked).toEqual([7])
})

test('subscribers at every instance get the whole output and the end while the job is taken over twice', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, hub, again, start, db, ended } = await jobService(demo)
  const two = again()
  const three = again()
  const places = [{ jobs, hub }, two, three]
  const id = await start(jobs, 'lxc:101')
  const clients = places.map(() => recordingSocket())
  for (const [at, place] of places.entries())
    await subscribeToJob({ db, ...place }, clients[at]?.socket ?? recordingSocket().socket, 'update', id, 0)
  const everywhere = (text: string) =>
    expect.poll(() => clients.map((client) => client.text() === text), { timeout: 5_000 }).toEqual([true, true, true])

  for (let line = 0; line < 50; line += 1) output.print(`un ${line} é€🦊\n`)
  await everywhere(output.text())
  await db.run('UPDATE jobs SET lease_until = 0')
  await two.jobs.maintain()
  for (let line = 0; line < 50; line += 1) output.print(`deux ${line} é€🦊\n`)
  await jobs.maintain()
  await everywhere(output.text())
  await two.jobs.stop()
  for (let line = 0; line < 50; line += 1) output.print(`trois ${line} é€🦊\n`)
  await three.jobs.maintain()
  output.end()

  expect(await ended(id)).toMatchObject({ status: 'success', epoch: 3 })
  // The second instance has stopped; its subscribers reconnect to another one.
  const left = [clients[0], clients[2]]
  await expect.poll(() => left.map((client) => client?.reason()), { timeout: 5_000 }).toEqual(['done', 'done'])
  for (const client of left) {
    expect(client?.text() === output.text()).toBe(true)
    expect(client?.events.at(-1)).toMatchObject({ type: 'update_done', seq: Buffer.byteLength(output.text()) })
  }
})

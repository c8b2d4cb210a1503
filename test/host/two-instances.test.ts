import { createHash, randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { findJob, type JobRow } from '../../db/jobs.ts'
import { openDatabase } from '../../db/libsql/client.ts'
import type { Database } from '../../db/libsql/database.ts'
import { readOutput } from '../../db/output.ts'
import { startLibsqlServer } from '../libsql-server.ts'
import { countFolders, jobFolder, timesBegun } from './begun.ts'
import { caller, record, signIn } from './client.ts'
import { follow, type Follower } from './follower.ts'
import { startFollowed } from './job.ts'
import { inside, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** The environment of both instances, which share only the database and the keys. */
let env: Record<string, string>
let db: Database
let other: Service
let owner: Service | undefined
const cleanUp: (() => Promise<void>)[] = []

beforeEach(async () => {
  await rig('reset')
  await countFolders()
  const server = await startLibsqlServer()
  cleanUp.push(server.stop)
  env = { PANEL_DATABASE_URL: server.url, PANEL_SECRET_KEY: randomBytes(32).toString('base64') }
  db = await openDatabase(server.url)
  cleanUp.push(() => db.close())
  other = await startService({ env })
  cleanUp.push(other.stop)
})
afterEach(async () => {
  await owner?.kill()
  owner = undefined
  for (const step of cleanUp.splice(0).reverse()) await step()
})

test('the other instance takes over a job within 15 s after its owner is killed', async () => {
  const job = await startAtOwner({ lines: 120 })

  await job.expectTakeoverAfter(() => job.owner.kill())

  await job.expectCompleteEnd()
})

test('the other instance takes over a job within 15 s after its owner is killed on another machine', async () => {
  const job = await startAtOwner({ lines: 320, apart: true })

  await job.expectTakeoverAfter(() => job.owner.kill())

  await job.expectCompleteEnd()
})

test('a suspended owner that resumes during the job gives the job up and still serves its subscribers', async () => {
  const job = await startAtOwner({ lines: 400 })

  await job.expectTakeoverAfter(() => job.owner.freeze(true))
  job.owner.freeze(false)

  await expect.poll(() => job.owner.log(), { timeout: 15_000 }).toContain('job let go')
  expect(await job.row()).toMatchObject({ status: 'running', epoch: 2 })
  const late = await follow(job.owner, job.id, { token: job.token })
  await job.expectCompleteEnd()
  expect(await late.closed).toBe(1000)
  expect(sha256(late.output())).toBe(await job.hostSha256())
  expect(late.frames.at(-1)).toMatchObject({ type: 'update_done' })
})

test('a suspended owner that resumes after the job’s end changes nothing of its result', async () => {
  const job = await startAtOwner({ lines: 280 })

  await job.expectTakeoverAfter(() => job.owner.freeze(true))
  expect(await job.there.closed).toBe(1000)
  const ended = await job.row()
  expect(ended).toMatchObject({ status: 'success', epoch: 2 })
  job.owner.freeze(false)

  await expect.poll(() => job.owner.log(), { timeout: 15_000 }).toContain('job let go')
  await job.expectCompleteEnd()
  expect(await job.row()).toEqual(ended)
})

/** Starts a slow upgrade with a subscriber at each instance, and waits until both have some output. */
async function startAtOwner({ lines, apart = false }: { lines: number; apart?: boolean }) {
  await rig('slow', String(lines), '50')
  const started = await startService({ env, apart })
  owner = started
  const bob = await signIn(started, 'bob')
  const { token, cookie } = bob
  const here = await startFollowed(bob, 'lxc:101')
  const { id } = here
  const there = await follow(other, id, { token })
  for (const { until } of [here, there]) await until(({ output }) => output().includes('rig-slow: step 5 '))
  const folder = await jobFolder(id, started.database)
  await inside('host', `ln /var/tmp/ops-panel-jobs-*/${folder}/output ${KEPT}`)
  expect(there.output()).not.toContain(`step ${lines} of`)

  const row = async (): Promise<JobRow | undefined> => findJob(db, id)
  const hostSha256 = async () => (await inside('host', `sha256sum <${KEPT}`)).split(' ')[0]
  return {
    id,
    token,
    owner: started,
    there,
    row,
    hostSha256,
    async expectTakeoverAfter(end: () => unknown) {
      expect(await row()).toMatchObject({ status: 'running', epoch: 1 })
      const since = performance.now()
      await end()
      await expect.poll(async () => (await row())?.epoch, { timeout: 15_000, interval: 100 }).toBe(2)
      console.info(`taken over after ${((performance.now() - since) / 1000).toFixed(1)} s`)
      expect(await row()).toMatchObject({ status: 'running' })
    },
    /** Expects that the job succeeds, began once, and that every copy of its output equals the host's file. */
    async expectCompleteEnd() {
      expect(await there.closed).toBe(1000)
      const rest = await restOfOutput(here, id, token)
      expect(await row()).toMatchObject({ status: 'success', exit_code: 0, epoch: 2 })
      expect(await record(caller(other, token, cookie), id)).toMatchObject({ status: 'success' })

      const whole = there.output()
      const steps = Array.from({ length: lines }, (_, n) => `rig-slow: step ${n + 1} of ${lines}`)
      expect(whole.match(/rig-slow: step \d+ of \d+/g)).toEqual(steps)
      const replay = await follow(other, id, { token })
      expect(await replay.closed).toBe(1000)
      const host = await hostSha256()
      expect({
        stored: sha256(await storedOutput(id)),
        there: sha256(whole),
        here: sha256(here.output() + rest),
        replay: sha256(replay.output()),
      }).toEqual({ stored: host, there: host, here: host, replay: host })
      for (const { frames } of [there, replay]) expect(contiguous(frames)).toBe(true)
      const done = { type: 'update_done', topic: `update:${id}`, seq: Buffer.byteLength(whole), data: { job_id: id } }
      for (const { frames } of [there, replay]) expect(frames.at(-1)).toMatchObject(done)

      expect(await timesBegun(id, started.database)).toBe(1)
      expect(await inside('101', `grep -c ' upgrade rig-slow:' /var/log/dpkg.log`)).toBe('1')
      await expect
        .poll(() => inside('host', `pgrep -f '[${folder.slice(0, 1)}]${folder.slice(1)}' || true`), { timeout: 15_000 })
        .toBe('')
    },
  }
}

/** Returns the output that a killed owner did not send its subscriber, read at the other instance. */
async function restOfOutput(here: Follower, id: string, token: string): Promise<string> {
  const code = await here.closed
  if (code === 1000) {
    expect(here.frames.at(-1)).toMatchObject({ type: 'update_done' })
    return ''
  }
  expect(code).toBe(1006)
  const resumed = await follow(other, id, { token, from: here.frames.at(-1)?.seq ?? 0 })
  expect(await resumed.closed).toBe(1000)
  expect(resumed.frames.at(-1)).toMatchObject({ type: 'update_done' })
  return resumed.output()
}

/** Returns the joined rows of a job's output; rejects when a row does not begin where the one before ends. */
async function storedOutput(id: string): Promise<Buffer> {
  const chunks = await readOutput(db, id, 0, Number.MAX_SAFE_INTEGER)
  let at = 0
  for (const { offset, bytes } of chunks) {
    if (offset !== at) throw new Error(`a row begins at ${offset} instead of ${at}`)
    at += bytes.length
  }
  const [rows] = await db.query(z.object({ count: z.number() }), ROWS, [id])
  expect(rows?.count).toBe(chunks.length)
  return Buffer.concat(chunks.map(({ bytes }) => bytes))
}

const ROWS = 'SELECT count(*) AS count FROM job_output WHERE job_id = ?'

function contiguous(frames: Follower['frames']): boolean {
  let at = 0
  return frames.every((frame) => {
    at += frame.type === 'update_output' ? Buffer.byteLength(frame.data.chunk) : 0
    return frame.seq === at
  })
}

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

const KEPT = '/var/tmp/kept-output'

import { expect, test } from 'vitest'
import { jobsWithExpiredLease, ownedJobs, releaseLeases, renewLeases, takeJob } from '../../db/job-leases.ts'
import { endJob, findJob, markLaunched, requestCancel } from '../../db/jobs.ts'
import { readOutput } from '../../db/output.ts'
import { rows } from '../functions/answers.ts'
import { NOW, openMigrated } from './database.ts'
import { temporaryFolder } from './folder.ts'
import { appendOutput, LEASE, recordJob } from './job.ts'

const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
const OTHER = { owner: 'two', leaseMs: 600_000 }
const EXPIRED = { owner: 'one', leaseMs: -1 }

test('a lease has the given length by the clock of the database', async () => {
  const db = await openMigrated()
  const before = Date.now()
  await recordJob(db, 'job', {}, { owner: 'one', leaseMs: 10_000 })

  const [row] = await rows(db, 'SELECT owner, lease_until FROM jobs')

  expect(row?.owner).toBe('one')
  expect(Number(row?.lease_until)).toBeGreaterThanOrEqual(before + 9_990)
  expect(Number(row?.lease_until)).toBeLessThanOrEqual(Date.now() + 10_010)
})

test('a job is taken over, with the next epoch, only after its lease has expired', async () => {
  const db = await openMigrated()
  await recordJob(db, 'held')
  await recordJob(db, 'expired', {}, EXPIRED)

  expect(await jobsWithExpiredLease(db)).toEqual(['expired'])
  expect(await takeJob(db, 'held', OTHER)).toBeUndefined()
  expect(await takeJob(db, 'expired', OTHER)).toBe(2)

  expect(await jobsWithExpiredLease(db)).toEqual([])
  expect(await ownedJobs(db)).toEqual([
    { id: 'held', owner: 'one' },
    { id: 'expired', owner: 'two' },
  ])
})

test('one of two instances that take a job over at the same time gets it', async () => {
  const url = `file:${await temporaryFolder()}/panel.db`
  const [one, two] = [await openMigrated(url), await openMigrated(url)]
  for (let at = 0; at < 20; at += 1) {
    const id = `job ${at}`
    await recordJob(one, id, {}, { owner: 'zero', leaseMs: -1 })

    const epochs = await Promise.all([takeJob(one, id, LEASE), takeJob(two, id, OTHER)])

    expect(epochs.filter((epoch) => epoch !== undefined)).toEqual([2])
    const winner = epochs[0] === undefined ? 'two' : 'one'
    expect(await ownedJobs(one)).toContainEqual({ id, owner: winner })
  }
})

test('a job whose follower is gone is taken over before its lease expires, and only from that follower', async () => {
  const db = await openMigrated()
  await recordJob(db, 'job')

  expect(await takeJob(db, 'job', { ...OTHER, gone: 'three' })).toBeUndefined()
  expect(await takeJob(db, 'job', { ...OTHER, gone: 'one' })).toBe(2)
  // The new follower is alive.
  expect(await takeJob(db, 'job', { owner: 'three', leaseMs: 1, gone: 'one' })).toBeUndefined()
})

test('an ended job has no lease and no owner, and is not taken over', async () => {
  const db = await openMigrated()
  await endJob(db, await recordJob(db, 'job', {}, EXPIRED), SUCCESS, { now: NOW })

  expect(await jobsWithExpiredLease(db)).toEqual([])
  expect(await ownedJobs(db)).toEqual([])
  expect(await takeJob(db, 'job', { ...OTHER, gone: 'one' })).toBeUndefined()
  expect(await findJob(db, 'job')).toMatchObject({ status: 'success', epoch: 1 })
})

test('a renewal covers the owner’s jobs that it names, and returns who has cancelled them', async () => {
  const db = await openMigrated()
  await recordJob(db, 'mine', {}, EXPIRED)
  await recordJob(db, 'unasked', {}, EXPIRED)
  await recordJob(db, 'cancelled', {}, EXPIRED)
  await requestCancel(db, 'cancelled', 'alice')
  await recordJob(db, 'theirs', {}, { owner: 'two', leaseMs: -1 })
  await endJob(db, await recordJob(db, 'ended', {}, EXPIRED), SUCCESS, { now: NOW })

  const held = await renewLeases(db, ['mine', 'cancelled', 'theirs', 'ended', 'none'], LEASE)

  expect(held).toEqual([
    { id: 'mine', cancelled_by: null },
    { id: 'cancelled', cancelled_by: 'alice' },
  ])
  expect(await jobsWithExpiredLease(db)).toEqual(['unasked', 'theirs'])
})

test('an owner that stops releases its own jobs at once, and no others', async () => {
  const db = await openMigrated()
  await recordJob(db, 'mine')
  await recordJob(db, 'theirs', {}, OTHER)

  await releaseLeases(db, 'one')

  expect(await jobsWithExpiredLease(db)).toEqual(['mine'])
  expect(await ownedJobs(db)).toEqual([{ id: 'theirs', owner: 'two' }])
  expect(await takeJob(db, 'mine', OTHER)).toBe(2)
})

test('a previous follower writes no output, no size, no launch and no end', async () => {
  const db = await openMigrated()
  const former = await recordJob(db, 'job', {}, EXPIRED)
  await appendOutput(db, former, { offset: 0, bytes: Buffer.from('before') }, 6)
  const epoch = await takeJob(db, 'job', OTHER)
  if (epoch === undefined) throw new Error('not taken')

  expect(await appendOutput(db, former, { offset: 6, bytes: Buffer.from(' late') }, 11)).toEqual([0, 0])
  expect(await markLaunched(db, former)).toBe(false)
  expect(await endJob(db, former, SUCCESS, { now: NOW })).toBe(false)

  expect(await findJob(db, 'job')).toMatchObject({
    status: 'running',
    launched: false,
    output_size: 6,
    host_offset: 6,
    epoch: 2,
  })
  expect(await readOutput(db, 'job', 0, 100)).toEqual([{ offset: 0, bytes: Buffer.from('before') }])
  const now = { id: 'job', epoch }
  expect(await appendOutput(db, now, { offset: 6, bytes: Buffer.from(' mine') }, 11)).toEqual([1, 1])
  expect(await endJob(db, now, SUCCESS, { now: NOW })).toBe(true)
})

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
const LAPSED = { owner: 'one', leaseMs: -1 }

test('a lease is as long as it was said, by the database’s time', async () => {
  const db = await openMigrated()
  const before = Date.now()
  await recordJob(db, 'job', {}, { owner: 'one', leaseMs: 10_000 })

  const [row] = await rows(db, 'SELECT owner, lease_until FROM jobs')

  expect(row?.owner).toBe('one')
  expect(Number(row?.lease_until)).toBeGreaterThanOrEqual(before + 9_990)
  expect(Number(row?.lease_until)).toBeLessThanOrEqual(Date.now() + 10_010)
})

test('a job whose lease holds is not taken; one whose lease has lapsed is, with the next epoch', async () => {
  const db = await openMigrated()
  await recordJob(db, 'held')
  await recordJob(db, 'lapsed', {}, LAPSED)

  expect(await jobsWithExpiredLease(db)).toEqual(['lapsed'])
  expect(await takeJob(db, 'held', OTHER)).toBeUndefined()
  expect(await takeJob(db, 'lapsed', OTHER)).toBe(2)

  expect(await jobsWithExpiredLease(db)).toEqual([])
  expect(await ownedJobs(db)).toEqual([
    { id: 'held', owner: 'one' },
    { id: 'lapsed', owner: 'two' },
  ])
})

test('of two that take a lapsed job at once, one gets it', async () => {
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

test('a job whose follower is gone is taken before its lease has lapsed, and from nobody else', async () => {
  const db = await openMigrated()
  await recordJob(db, 'job')

  expect(await takeJob(db, 'job', { ...OTHER, gone: 'three' })).toBeUndefined()
  expect(await takeJob(db, 'job', { ...OTHER, gone: 'one' })).toBe(2)
  // What was true of the one that is gone is not of the one that has taken it.
  expect(await takeJob(db, 'job', { owner: 'three', leaseMs: 1, gone: 'one' })).toBeUndefined()
})

test('what has ended is neither lapsed nor owned nor taken', async () => {
  const db = await openMigrated()
  await endJob(db, await recordJob(db, 'job', {}, LAPSED), SUCCESS, { now: NOW })

  expect(await jobsWithExpiredLease(db)).toEqual([])
  expect(await ownedJobs(db)).toEqual([])
  expect(await takeJob(db, 'job', { ...OTHER, gone: 'one' })).toBeUndefined()
  expect(await findJob(db, 'job')).toMatchObject({ status: 'success', epoch: 1 })
})

test('renewing prolongs what is one’s own and asked for, and tells who wants it to end', async () => {
  const db = await openMigrated()
  await recordJob(db, 'mine', {}, LAPSED)
  await recordJob(db, 'unasked', {}, LAPSED)
  await recordJob(db, 'cancelled', {}, LAPSED)
  await requestCancel(db, 'cancelled', 'alice')
  await recordJob(db, 'theirs', {}, { owner: 'two', leaseMs: -1 })
  await endJob(db, await recordJob(db, 'ended', {}, LAPSED), SUCCESS, { now: NOW })

  const held = await renewLeases(db, ['mine', 'cancelled', 'theirs', 'ended', 'none'], LEASE)

  expect(held).toEqual([
    { id: 'mine', cancelled_by: null },
    { id: 'cancelled', cancelled_by: 'alice' },
  ])
  expect(await jobsWithExpiredLease(db)).toEqual(['unasked', 'theirs'])
})

test('an owner that stops gives up its jobs at once, and nobody else’s', async () => {
  const db = await openMigrated()
  await recordJob(db, 'mine')
  await recordJob(db, 'theirs', {}, OTHER)

  await releaseLeases(db, 'one')

  expect(await jobsWithExpiredLease(db)).toEqual(['mine'])
  expect(await ownedJobs(db)).toEqual([{ id: 'theirs', owner: 'two' }])
  expect(await takeJob(db, 'mine', OTHER)).toBe(2)
})

test('who has lost a job writes nothing of it any more: no output, no size, no launch, no end', async () => {
  const db = await openMigrated()
  const former = await recordJob(db, 'job', {}, LAPSED)
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

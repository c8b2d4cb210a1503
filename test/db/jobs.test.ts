import { expect, test } from 'vitest'
import { countJobs, followedJobs, latestJobs, listJobs, queuedJobs, takeTurn } from '../../db/job-list.ts'
import { addJob, addRun } from '../../db/job-start.ts'
import { endJob, findJob, markLaunched, requestCancel } from '../../db/jobs.ts'
import { saveUser } from '../../db/users.ts'
import { NOW, openMigrated } from './database.ts'
import { LEASE, recordJob } from './job.ts'

const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
const FAILED = { status: 'error', error: 'Erreur', error_code: 'ssh_failed', exit_code: null } as const
const CANCELLED = { status: 'error', error: 'Annulé par bob', error_code: 'cancelled', exit_code: 143 } as const
const LATER = '2026-03-01T12:05:00.000Z'

test('a new job runs with its recorder as follower, without output and without an end', async () => {
  const db = await openMigrated()

  expect(await recordJob(db, 'job')).toEqual({ id: 'job', epoch: 1 })

  expect(await findJob(db, 'job')).toEqual({
    id: 'job',
    folder: null,
    kind: 'upgrade',
    args: '{"target":"host"}',
    queue: 'host',
    target: 'host',
    status: 'running',
    error: null,
    error_code: null,
    exit_code: null,
    output_size: 0,
    output_from: 0,
    host_offset: 0,
    launched: false,
    epoch: 1,
    cancelled_by: null,
    started_at: NOW,
    finished_at: null,
    started_by: 1,
    parts: null,
    warnings: [],
    run_id: null,
    plan_id: null,
    plan_difference: null,
    phase: null,
    outcome: null,
    protected: null,
  })
  expect(await findJob(db, 'other')).toBeUndefined()
})

test('a job ends once: a second end changes nothing and returns false', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')

  expect(await endJob(db, job, FAILED, { now: NOW })).toBe(true)
  expect(await endJob(db, job, SUCCESS, { now: LATER })).toBe(false)

  expect(await findJob(db, 'job')).toMatchObject({ status: 'error', error: 'Erreur', finished_at: NOW })
})

test('only the current follower can end a job or mark it as launched', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  await db.run('UPDATE jobs SET epoch = 2')

  expect(await markLaunched(db, job)).toBe(false)
  expect(await endJob(db, job, SUCCESS, { now: NOW })).toBe(false)
  expect(await findJob(db, 'job')).toMatchObject({ status: 'running', launched: false, finished_at: null })

  expect(await markLaunched(db, { id: 'job', epoch: 2 })).toBe(true)
  expect(await endJob(db, { id: 'job', epoch: 2 }, SUCCESS, { now: NOW })).toBe(true)
  expect(await findJob(db, 'job')).toMatchObject({ status: 'success', launched: true, finished_at: NOW })
})

test('the first user who cancels a job is recorded, and none for an ended or missing job', async () => {
  const db = await openMigrated()
  await recordJob(db, 'job')
  await endJob(db, await recordJob(db, 'ended'), SUCCESS, { now: NOW })

  expect(await requestCancel(db, 'job', 'bob')).toBe(true)
  expect(await requestCancel(db, 'job', 'alice')).toBe(true)
  expect(await requestCancel(db, 'ended', 'bob')).toBe(false)
  expect(await requestCancel(db, 'other', 'bob')).toBe(false)

  expect(await findJob(db, 'job')).toMatchObject({ status: 'running', cancelled_by: 'bob' })
  expect(await findJob(db, 'ended')).toMatchObject({ status: 'success', cancelled_by: null })
})

test('a cancelled job cannot end as uncancelled or with the name of another user', async () => {
  const db = await openMigrated()
  const job = await recordJob(db, 'job')
  expect(await endJob(db, job, CANCELLED, { now: NOW, cancelledBy: 'bob' })).toBe(false)
  await requestCancel(db, 'job', 'bob')

  expect(await endJob(db, job, SUCCESS, { now: NOW })).toBe(false)
  expect(await endJob(db, job, CANCELLED, { now: NOW, cancelledBy: 'alice' })).toBe(false)
  expect(await findJob(db, 'job')).toMatchObject({ status: 'running' })

  expect(await endJob(db, job, CANCELLED, { now: NOW, cancelledBy: 'bob' })).toBe(true)
  expect(await findJob(db, 'job')).toMatchObject({ ...CANCELLED, finished_at: NOW })
})

test('running jobs are listed in order of arrival, whatever the clocks say, without ended ones', async () => {
  const db = await openMigrated()
  await recordJob(db, 'b', { started_at: LATER, queue: 'lxc/101', target: 'lxc:101' })
  await recordJob(db, 'a')
  await endJob(db, await recordJob(db, 'ended'), SUCCESS, { now: LATER })

  expect(await queuedJobs(db)).toEqual([
    { id: 'b', queue: 'lxc/101', target: 'lxc:101', begun: false, run_id: null, started_by: 1, late: 0 },
    { id: 'a', queue: 'host', target: 'host', begun: false, run_id: null, started_by: 1, late: 0 },
  ])
})

test('one of several conflicting jobs has its turn at a time, whichever instance asks', async () => {
  const db = await openMigrated()
  const one = await recordJob(db, 'one', { queue: 'lxc/101' })
  await recordJob(db, 'two', { queue: 'lxc/*' })
  await recordJob(db, 'three', { queue: 'lxc/102' })
  await recordJob(db, 'free', { queue: '' })
  await recordJob(db, 'other', { queue: 'container/101' })

  expect(await takeTurn(db, 'one')).toBe(true)
  // An instance that missed the answer asks again.
  expect(await takeTurn(db, 'one')).toBe(true)
  expect(await takeTurn(db, 'two')).toBe(false)
  for (const id of ['three', 'free', 'other']) expect(await takeTurn(db, id)).toBe(true)
  await endJob(db, one, SUCCESS, { now: LATER })
  expect(await takeTurn(db, 'one')).toBe(false)
  expect(await takeTurn(db, 'two')).toBe(false)
  expect((await queuedJobs(db)).map(({ id }) => id)).toEqual(['free', 'other', 'three', 'two'])
})

test('four jobs of all runs of a user have their turn at a time, beside single ones and those of others', async () => {
  const db = await openMigrated()
  const alice = await saveUser(db, 'alice', false, NOW)
  const bob = await saveUser(db, 'bob', false, NOW)
  const runOf = (started_by: number, ids: readonly string[]) => {
    const jobs = ids.map((id) => ({
      job: { id, kind: 'upgrade', args: '{}', queue: `lxc/${id}`, target: `lxc:${id}`, started_at: NOW, started_by },
      more: [],
    }))
    return addRun(db, { id: `run ${ids[0]}`, jobs }, LEASE)
  }
  const [first] = await runOf(bob.id, ['1', '2'])
  await runOf(bob.id, ['3', '4', '5'])
  await runOf(alice.id, ['6'])
  await recordJob(db, 'single')

  for (const id of ['1', '2', '3', '4']) expect(await takeTurn(db, id)).toBe(true)
  expect(await takeTurn(db, '5')).toBe(false)
  for (const id of ['6', 'single']) expect(await takeTurn(db, id)).toBe(true)

  expect(first && (await endJob(db, first, SUCCESS, { now: LATER }))).toBe(true)
  expect(await takeTurn(db, '5')).toBe(true)
})

test('of the jobs that were recorded together those are followed that no other instance has taken over', async () => {
  const db = await openMigrated()
  const ids = Array.from({ length: 60 }, (_, at) => `job ${at}`)
  const recorded = []
  for (const id of ids) recorded.push(await recordJob(db, id))
  await db.run(`UPDATE jobs SET epoch = 2 WHERE id = 'job 7'`)

  const rows = await followedJobs(db, recorded)

  expect(rows.map(({ id }) => id)).toEqual(ids.filter((id) => id !== 'job 7'))
  expect(await followedJobs(db, [])).toEqual([])
})

test('the newest jobs are listed first, jobs of one moment by their order, and at most the limit', async () => {
  const db = await openMigrated()
  for (const id of ['z', 'y', 'x']) await recordJob(db, id)
  await recordJob(db, 'late', { started_at: LATER })

  expect((await latestJobs(db, { kind: 'upgrade', limit: 3 })).map(({ id }) => id)).toEqual(['late', 'x', 'y'])
})

test('the newest jobs of some targets are the newest of these, however many others came later; those of all are not', async () => {
  const db = await openMigrated()
  const of = (target: string) => ({ target, started_at: LATER })
  for (const id of ['a', 'b', 'c']) await recordJob(db, id, { target: 'lxc:101' })
  await recordJob(db, 'host', of('host'))
  for (const id of ['all', 'other']) await recordJob(db, id, of(id === 'all' ? 'all' : 'lxc:102'))
  const kinds = [{ kind: 'upgrade', limit: 2 }]
  const ids = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id)

  expect(ids(await latestJobs(db, { kind: 'upgrade', limit: 2, targets: ['lxc:101'] }))).toEqual(['c', 'b'])
  expect(ids(await latestJobs(db, { kind: 'upgrade', limit: 2, targets: [] }))).toEqual([])
  expect(ids(await latestJobs(db, { kind: 'upgrade', limit: 9, targets: ['host', "lxc:102'"] }))).toEqual(['host'])
  // All of these jobs are running, so the list has each of the target.
  expect(ids(await listJobs(db, kinds, ['lxc:101'])).sort()).toEqual(['a', 'b', 'c'])
  expect(ids(await listJobs(db, kinds, []))).toEqual([])
  await db.run(`UPDATE jobs SET status = 'success'`)
  expect(ids(await listJobs(db, kinds, ['lxc:101']))).toEqual(['c', 'b'])
  expect(ids(await listJobs(db, kinds))).toEqual(['other', 'all'])
})

test('the database refuses an unknown status and a job without a user', async () => {
  const db = await openMigrated()
  await recordJob(db, 'job')

  await expect(db.run(`UPDATE jobs SET status = 'paused'`)).rejects.toThrow(/CHECK/)
  const orphan = { id: 'o', kind: 'upgrade', args: '{}', queue: '', target: 'host', started_at: NOW, started_by: 99 }
  await expect(addJob(db, orphan, LEASE)).rejects.toThrow(/FOREIGN KEY/)
})

test('the jobs of each kind and status are counted, including counts of 0', async () => {
  const db = await openMigrated()
  const counts = async () =>
    (await countJobs(db, ['upgrade', 'other'])).map(({ kind, status, count }) => `${kind} ${status} ${count}`)
  expect(await counts()).toEqual([
    'upgrade running 0',
    'upgrade success 0',
    'upgrade error 0',
    'other running 0',
    'other success 0',
    'other error 0',
  ])
  const [a, b] = [await recordJob(db, 'a'), await recordJob(db, 'b')]
  for (const id of ['c', 'd']) await recordJob(db, id)
  await recordJob(db, 'e', { kind: 'other' })
  await endJob(db, a, SUCCESS, { now: LATER })
  await endJob(db, b, FAILED, { now: LATER })

  expect(await counts()).toEqual([
    'upgrade running 2',
    'upgrade success 1',
    'upgrade error 1',
    'other running 1',
    'other success 0',
    'other error 0',
  ])
})

test('the latest jobs of one kind contain no others', async () => {
  const db = await openMigrated()
  await recordJob(db, 'first')
  await recordJob(db, 'other', { kind: 'other', started_at: LATER })

  expect((await latestJobs(db, { kind: 'upgrade', limit: 1 })).map(({ id }) => id)).toEqual(['first'])
})

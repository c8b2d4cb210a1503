import { expect, test } from 'vitest'
import type { Database } from '../../db/client.ts'
import { addJob, endJob, findJob, latestJobs, runningJobs } from '../../db/jobs.ts'
import { saveUser } from '../../db/users.ts'
import { NOW, openMigrated } from './database.ts'

const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
const LATER = '2026-03-01T12:05:00.000Z'

async function add(db: Database, id: string, started_at = NOW): Promise<void> {
  const { id: started_by } = await saveUser(db, 'bob', false, NOW)
  await addJob(db, { id, kind: 'upgrade', args: '{"target":"host"}', target: 'host', started_at, started_by })
}

test('a new job runs, without output and without an end', async () => {
  const db = await openMigrated()
  await add(db, 'job')

  expect(await findJob(db, 'job')).toEqual({
    id: 'job',
    kind: 'upgrade',
    args: '{"target":"host"}',
    target: 'host',
    status: 'running',
    error: null,
    error_code: null,
    exit_code: null,
    output_size: 0,
    host_offset: 0,
    launched: false,
    started_at: NOW,
    finished_at: null,
    started_by: 1,
  })
  expect(await findJob(db, 'other')).toBeUndefined()
})

test('a job ends once: a second end changes nothing', async () => {
  const db = await openMigrated()
  await add(db, 'job')

  await endJob(db, 'job', { status: 'error', error: 'Erreur', error_code: 'ssh_failed', exit_code: null }, NOW)
  await endJob(db, 'job', SUCCESS, LATER)

  expect(await findJob(db, 'job')).toMatchObject({ status: 'error', error: 'Erreur', finished_at: NOW })
})

test('lists what runs, the oldest first, without what has ended', async () => {
  const db = await openMigrated()
  await add(db, 'b', LATER)
  await add(db, 'a')
  await add(db, 'ended')
  await endJob(db, 'ended', SUCCESS, LATER)

  expect((await runningJobs(db)).map(({ id }) => id)).toEqual(['a', 'b'])
})

test('lists the newest first, those of one moment by their order, and no more than asked for', async () => {
  const db = await openMigrated()
  for (const id of ['z', 'y', 'x']) await add(db, id)
  await add(db, 'late', LATER)

  expect((await latestJobs(db, 3)).map(({ id }) => id)).toEqual(['late', 'x', 'y'])
})

test('the database itself refuses an unknown status and a job of nobody', async () => {
  const db = await openMigrated()
  await add(db, 'job')

  await expect(db.run(`UPDATE jobs SET status = 'paused'`)).rejects.toThrow(/CHECK/)
  const orphan = { id: 'o', kind: 'upgrade', args: '{}', target: 'host', started_at: NOW, started_by: 99 }
  await expect(addJob(db, orphan)).rejects.toThrow(/FOREIGN KEY/)
})

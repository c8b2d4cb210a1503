import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { AlreadyQueued, addJob, OtherQueued, PlanNotCurrent, QueueFull } from '../../db/job-start.ts'
import { endJob, findJob } from '../../db/jobs.ts'
import { openDatabase } from '../../db/libsql/client.ts'
import type { Database } from '../../db/libsql/database.ts'
import { migrate } from '../../db/migrate.ts'
import { saveUser } from '../../db/users.ts'
import { startLibsqlServer } from '../libsql-server.ts'
import { NOW, openMigrated } from './database.ts'
import { temporaryFolder } from './folder.ts'
import { LEASE, recordJob } from './job.ts'

const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
const Ids = z.object({ id: z.string() })
const BOUNDS = { ofTarget: 1, ofUser: 10, ofAll: 50 }

test.each<[string, () => Promise<string>]>([
  ['a file', async () => `file:${join(await temporaryFolder(), 'panel.db')}`],
  [
    'a server',
    async () => {
      const server = await startLibsqlServer()
      onTestFinished(server.stop)
      return server.url
    },
  ],
])('of the lone jobs of a target that several instances with %s record at once, one is', async (_, at) => {
  const url = await at()
  const instances: Database[] = []
  for (let n = 0; n < 4; n += 1) instances.push(await openDatabase(url))
  const [first] = instances
  if (!first) throw new Error('no instance')
  onTestFinished(async () => {
    for (const db of instances) await db.close()
  })
  await migrate(first, new Date(NOW))
  await saveUser(first, 'bob', false, NOW)

  const ended = await Promise.allSettled(
    instances.flatMap((db, n) => ['a', 'b'].map((word) => recordJob(db, `${word}${n}`, { alone: true }))),
  )

  const recorded = ended.flatMap((each) => (each.status === 'fulfilled' ? each.value.id : []))
  const reasons = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  expect(recorded).toHaveLength(1)
  expect(reasons.map((reason) => (reason instanceof AlreadyQueued ? reason.id : reason))).toEqual(
    Array(7).fill(recorded[0]),
  )
})

test('a lone job is recorded beside jobs of another kind, of another target, and ended ones', async () => {
  const db = await openMigrated()
  await recordJob(db, 'check', { kind: 'check' })
  await recordJob(db, 'other', { target: 'lxc:101' })
  await endJob(db, await recordJob(db, 'ended'), SUCCESS, { now: NOW })

  await recordJob(db, 'job', { alone: true })

  await expect(recordJob(db, 'late', { alone: true })).rejects.toMatchObject({ name: 'AlreadyQueued', id: 'job' })
  // A job that may have company waits.
  await recordJob(db, 'waiting')
  expect(await findJob(db, 'late')).toBeUndefined()
})

test('a lone job of a target with a NUL is refused beside one of the same target alone', async () => {
  const db = await openMigrated()
  await recordJob(db, 'job', { target: 'lxc:1\0', alone: true })

  await expect(recordJob(db, 'same', { target: 'lxc:1\0', alone: true })).rejects.toMatchObject({ id: 'job' })
  await recordJob(db, 'other', { target: 'lxc:1', alone: true })
})

/** A database in which something happens right after the first transaction. */
function disturbed(db: Database, happens: () => Promise<unknown>): Database {
  let batches = 0
  return {
    ...db,
    async batch(statements) {
      const changed = await db.batch(statements)
      batches += 1
      if (batches === 1) await happens()
      return changed
    },
  }
}

test('a job is recorded when the one in its way ends before it can be named', async () => {
  const db = await openMigrated()
  const first = await recordJob(db, 'first')

  await recordJob(
    disturbed(db, () => endJob(db, first, SUCCESS, { now: NOW })),
    'second',
    { alone: true },
  )

  expect(await findJob(db, 'second')).toMatchObject({ status: 'running' })
})

test('a job that tolerates only some kinds is refused beside any other one, also beside one that waits', async () => {
  const db = await openMigrated()
  await recordJob(db, 'check', { kind: 'check' })
  await endJob(db, await recordJob(db, 'ended'), SUCCESS, { now: NOW })
  await recordJob(db, 'first', { kind: 'reboot', onlyBeside: ['check'] })

  await expect(recordJob(db, 'second', { kind: 'reboot', onlyBeside: ['check'] })).rejects.toThrow(OtherQueued)
  await expect(recordJob(db, 'third', { kind: 'check', onlyBeside: [] })).rejects.toMatchObject({ id: 'check' })
  await expect(recordJob(db, 'fourth', { onlyBeside: ['check'] })).rejects.toMatchObject({ id: 'first' })

  expect(await db.query(Ids, 'SELECT id FROM jobs')).toEqual([{ id: 'check' }, { id: 'ended' }, { id: 'first' }])
})

test('of jobs that tolerate no other one and that several instances record at once, one is recorded', async () => {
  const db = await openMigrated()

  const ended = await Promise.allSettled(['a', 'b', 'c', 'd'].map((id) => recordJob(db, id, { onlyBeside: [] })))

  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a full queue, a job of the same target and a plan that is gone are told apart', async () => {
  const db = await openMigrated()
  const { started_by } = (await recordJob(db, 'first').then(({ id }) => findJob(db, id))) ?? { started_by: 0 }
  const job = { kind: 'upgrade', args: '{}', queue: 'host', target: 'host', started_at: NOW, started_by }
  const add = (id: string, more: object = {}) => addJob(db, { ...job, id, ...more }, LEASE, [], BOUNDS)

  await expect(add('full')).rejects.toThrow(QueueFull)
  await expect(add('alone', { alone: true })).rejects.toThrow(AlreadyQueued)
  await expect(add('planned', { plan_id: 'gone' })).rejects.toThrow(PlanNotCurrent)

  expect(await db.query(Ids, 'SELECT id FROM jobs')).toEqual([{ id: 'first' }])
})

import { expect, test } from 'vitest'
import { addRun } from '../../db/job-start.ts'
import { takeTurn } from '../../db/job-list.ts'
import { endJob } from '../../db/jobs.ts'
import { saveUser } from '../../db/users.ts'
import { NOW, openMigrated } from './database.ts'
import { LEASE, recordJob } from './job.ts'

const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const

test('a late job of a run takes its turn when all jobs before it in that run have ended, whichever instance asks', async () => {
  const db = await openMigrated()
  const { id: started_by } = await saveUser(db, 'bob', false, NOW)
  const job = (id: string, late?: number) => ({
    job: {
      id,
      kind: 'upgrade',
      args: '{}',
      queue: `lxc/${id}`,
      target: `lxc:${id}`,
      started_at: NOW,
      started_by,
      late,
    },
    more: [],
  })
  const [host, , panel, web] = await addRun(
    db,
    { id: 'run', jobs: [job('1', 3), job('2', 1), job('3', 2), job('4')] },
    LEASE,
  )
  await recordJob(db, 'single', { queue: 'other', target: 'lxc:9' })
  const turns = async (...ids: string[]) => {
    const taken: string[] = []
    for (const id of ids) if (await takeTurn(db, id)) taken.push(id)
    return taken
  }
  const end = async (of: typeof host) => of && endJob(db, of, SUCCESS, { now: NOW })

  expect(await turns('1', '2', '3', '4', 'single')).toEqual(['4', 'single'])
  await end(web)
  expect(await turns('1', '3', '2')).toEqual(['2'])
  // A job that ends without its turn, such as a cancelled one, holds nobody up.
  await end(panel)
  expect(await turns('1')).toEqual([])
  await end({ id: '2', epoch: 1 })
  expect(await turns('1')).toEqual(['1'])
})

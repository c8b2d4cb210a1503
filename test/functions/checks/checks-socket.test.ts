import { expect, test } from 'vitest'
import { markUnanswered, saveFindings, updateContainers } from '../../../db/checks.ts'
import { renewLeases, takeJob } from '../../../db/job-leases.ts'
import { addJob } from '../../../db/job-start.ts'
import { takeTurn } from '../../../db/job-list.ts'
import { endJob, markLaunched } from '../../../db/jobs.ts'
import type { Database, Statement } from '../../../db/libsql/database.ts'
import { claimSecurityData, failSecurityData, saveSecurityData } from '../../../db/security-data.ts'
import { writeSettings } from '../../../db/settings.ts'
import { AUTOMATIC_USER } from '../../../db/users.ts'
import { checksRevision } from '../../../db/check-schedule.ts'
import { createCheckChanges } from '../../../functions/checks/changes.ts'
import socket from '../../../functions/checks/checks.ws.ts'
import { createHub } from '../../../platform/hub.ts'
import { START as NOW, testApp } from '../../app.ts'
import { openMigrated } from '../../db/database.ts'
import { listening } from '../../serve/listening.ts'
import { openSocket } from '../../serve/service.ts'

const AT = NOW.toISOString()
const WEB = { vmid: 101, name: 'web', status: 'running' }

const lease = { owner: 'test', leaseMs: 60_000 }
const newJob = (kind: string) => ({
  id: `1772366400-${kind}`,
  kind,
  args: '{}',
  queue: '',
  target: 'host',
  started_at: AT,
  started_by: AUTOMATIC_USER,
})

async function open() {
  const app = await testApp([])
  const { url } = await listening(app.services, { sockets: [socket] })
  const token = await app.tokenFor('user')
  return { app, url, subscribe: () => openSocket(url, socket.path, { token }) }
}

test('a socket gets a frame at once, and one after a change that another instance has stored', async () => {
  const { app, subscribe } = await open()
  const one = subscribe()

  await expect.poll(() => one.events).toHaveLength(1)
  expect(one.events[0]).toEqual({ type: 'checks_changed', topic: 'checks', seq: expect.any(Number), data: {} })

  await updateContainers(app.db, [WEB], AT)
  await expect.poll(() => one.events, { timeout: 3_000 }).toHaveLength(2)
  const two = subscribe()
  await expect.poll(() => two.events).toHaveLength(1)
  expect(two.events[0]).toEqual(one.events[1])

  await addJob(app.db, newJob('check'), lease)
  await expect.poll(() => [one.events.length, two.events.length], { timeout: 3_000 }).toEqual([3, 2])
})

test('a stranger is refused', async () => {
  const { url } = await open()

  expect(await openSocket(url, socket.path).end).toBe(4401)
})

test('a subscriber outlives a failure of the database, and the last one that leaves ends the queries', async () => {
  const { app, subscribe } = await open()
  const one = subscribe()
  await expect.poll(() => one.events).toHaveLength(1)

  await app.db.script('ALTER TABLE revisions RENAME TO gone')
  await expect.poll(() => app.lines().join(''), { timeout: 3_000 }).toContain('changes of checks could not be read')
  await app.db.script('ALTER TABLE gone RENAME TO revisions; UPDATE revisions SET n = n + 1')
  await expect.poll(() => one.events, { timeout: 3_000 }).toHaveLength(2)

  one.ws.close()
  await expect.poll(() => app.services.hub.subscribers('checks')).toBe(0)
})

test('however many subscribers there are, one query at a time reads the revision, and none without them', async () => {
  const real = await openMigrated()
  let [queries, open, most] = [0, 0, 0]
  const db: Database = {
    ...real,
    async query(...args) {
      queries += 1
      open += 1
      most = Math.max(most, open)
      return real.query(...args).finally(() => {
        open -= 1
      })
    },
  }
  const app = await testApp([])
  const hub = createHub()
  const changes = createCheckChanges({ db, hub, log: app.services.log })
  let delivered = 0
  const subscribe = () =>
    changes.subscribe({
      deliver() {
        delivered += 1
      },
      finish() {},
    })

  const leave = Array.from({ length: 20 }, subscribe)
  await expect.poll(() => queries, { timeout: 3_000 }).toBe(2)
  expect([most, delivered]).toEqual([1, 20])

  for (const each of leave) each()
  await expect.poll(() => queries, { timeout: 3_000 }).toBe(3)
  const left = subscribe()
  await expect.poll(() => queries).toBe(4)
  left()
  changes.stop()
})

test('the revision grows with stored checks and with jobs, and not with leases, output or an unchanged list', async () => {
  const db = await openMigrated()
  const job = { id: '1772366400-check', epoch: 1 }
  const run = (statement: Statement) => db.run(statement.sql, statement.args)
  const grows = async (by: number, work: () => Promise<unknown>) => {
    const before = await checksRevision(db)
    await work()
    expect((await checksRevision(db)) - before, String(work)).toBe(by)
  }
  const end = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
  const found = { target: 'host', at: AT, listsAt: AT, summary: '{}', packages: '[]' }

  await grows(1, () => updateContainers(db, [WEB], AT))
  await grows(0, () => updateContainers(db, [WEB], AT))
  await grows(1, () => updateContainers(db, [{ ...WEB, status: 'stopped' }], AT))
  await grows(1, () => addJob(db, newJob('check'), lease))
  await grows(0, () => addJob(db, newJob('of-a-module'), lease))
  await grows(1, () => takeTurn(db, job.id))
  await grows(1, () => markLaunched(db, job))
  await grows(0, () => renewLeases(db, [job.id], lease))
  await grows(0, () => db.run('UPDATE jobs SET output_size = 5, host_offset = 5 WHERE id = ?', [job.id]))
  await grows(0, () => takeJob(db, job.id, { ...lease, gone: 'test' }))
  await grows(1, () => endJob(db, { ...job, epoch: 2 }, end, { now: AT }))
  await grows(1, () => run(saveFindings({ ...job, epoch: 2 }, found)))
  await grows(1, () => run(markUnanswered({ ...job, epoch: 2 }, 'host')))
  await grows(1, () => updateContainers(db, [], AT))
  await grows(1, () => writeSettings(db, { checks_automatic: 'off' }, AT))
  await grows(0, () => writeSettings(db, { checks_automatic: 'off' }, AT))
  await grows(1, () => writeSettings(db, { checks_automatic: 'on' }, AT))
  await grows(0, () => writeSettings(db, { checks_parallel: '3' }, AT))
  const due = { now: AT, fetchedBefore: AT, triedBefore: AT, ahead: AT }
  await claimSecurityData(db, 'kev', due)
  await grows(1, () => saveSecurityData(db, 'kev', { body: Buffer.from('[]'), etag: null, at: AT }))
  await grows(1, () => failSecurityData(db, 'kev', 'x'))
})

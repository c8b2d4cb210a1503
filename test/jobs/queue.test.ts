import { expect, test } from 'vitest'
import * as z from 'zod'
import { auditEntry, readAudit } from '../../db/audit.ts'
import { endJob } from '../../db/jobs.ts'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import type { DemoHost } from '../../demo/host.ts'
import { LeaseLost } from '../../jobs/output.ts'
import { createJobQueue } from '../../jobs/queue.ts'
import { createLog } from '../../platform/log.ts'
import { NOW, openMigrated } from '../db/database.ts'
import { recordJob } from '../db/job.ts'
import { startDemo } from '../runtime/demo.ts'
import { jobService, starts } from './job-service.ts'

/** An upgrade in each place prints its place, then waits until it is told to end. */
function heldUpgrades(demo: DemoHost) {
  const begun: string[] = []
  const ends: { place: string; end: () => void }[] = []
  demo.upgradeOutput = async function* (place) {
    begun.push(place)
    yield `${place}\n`
    await new Promise<void>((resolve) => ends.push({ place, end: resolve }))
  }
  return {
    begun,
    /** Ends the oldest one in that place. */
    async end(place: string) {
      await expect.poll(() => ends.some((one) => one.place === place)).toBe(true)
      const at = ends.findIndex((one) => one.place === place)
      for (const one of ends.splice(at, 1)) one.end()
    },
  }
}

const Ids = z.array(z.object({ id: z.string(), status: z.string() }))
const statuses = async (db: Database) =>
  Ids.parse(await db.query(z.unknown(), 'SELECT id, status FROM jobs ORDER BY rowid')).map(({ status }) => status)

const ENTRY = { action: 'update_start', user_id: 1, username: 'bob', ip: '192.0.2.1', details: null }

const waits = (id: string, target: string, more = '') => `En attente de la fin de la tâche ${id} (${target})${more}…\n`

test('jobs of one target run one after another in the order of arrival, and say once for what they wait', async () => {
  const demo = await startDemo()
  const { begun, end } = heldUpgrades(demo)
  const { jobs, start, ended, output, row } = await jobService(demo)
  const one = await start(jobs, 'lxc:101')
  const two = await start(jobs, 'lxc:101')
  const three = await start(jobs, 'lxc:101')

  await expect.poll(() => output(three)).toBe(waits(one, 'lxc:101', ' et de 1 autre'))
  expect(await output(two)).toBe(waits(one, 'lxc:101'))
  await expect.poll(() => begun).toEqual(['101'])
  expect(await row(three)).toMatchObject({ status: 'running', launched: false })

  for (const [at, id] of [one, two, three].entries()) {
    await expect.poll(() => begun).toHaveLength(at + 1)
    expect(starts(demo)).toHaveLength(at + 1)
    await end('101')
    expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  }
  expect(await output(one)).toBe('101\n')
  expect(await output(three)).toBe(`${waits(one, 'lxc:101', ' et de 1 autre')}101\n`)
})

test('users are served in turn: one who comes late to a long queue waits for one job of each of the others', async () => {
  const demo = await startDemo()
  const { begun, end } = heldUpgrades(demo)
  const { jobs, again, start, ended, output } = await jobService(demo)
  const other = again()
  const bob = [
    await start(jobs, 'lxc:101', 'bob'),
    await start(jobs, 'lxc:101', 'bob'),
    await start(jobs, 'lxc:101', 'bob'),
  ]
  const alice = [await start(other.jobs, 'lxc:101', 'alice'), await start(other.jobs, 'lxc:101', 'alice')]
  const zoe = [await start(jobs, 'lxc:101', 'zoe')]
  const [b1 = '', b2 = '', b3 = ''] = bob
  const [a1 = '', a2 = ''] = alice
  const [z1 = ''] = zoe
  await expect.poll(() => output(z1)).toBe(waits(b1, 'lxc:101', ' et de 1 autre'))

  for (const [at, id] of [b1, a1, z1, b2, a2, b3].entries()) {
    await expect.poll(() => begun, { timeout: 3_000 }).toHaveLength(at + 1)
    await end('101')
    expect(await ended(id)).toMatchObject({ status: 'success' })
  }
  // What was said at first was over when they had come before it who came later: so it was said anew.
  expect(await output(b2)).toBe(`${waits(b1, 'lxc:101')}${waits(a1, 'lxc:101', ' et de 1 autre')}101\n`)
})

test('two users who come again and again do not go before a third one, whose job waits', async () => {
  const demo = await startDemo()
  const { end } = heldUpgrades(demo)
  const { jobs, start, ended, row } = await jobService(demo)
  const first = await start(jobs, 'lxc:101', 'bob')
  const waiting = await start(jobs, 'lxc:101', 'bob')
  const isOver = async (id: string) => {
    await end('101')
    expect(await ended(id)).toMatchObject({ status: 'success' })
  }
  const alice = await start(jobs, 'lxc:101', 'alice')
  await isOver(first)
  const zoe = await start(jobs, 'lxc:101', 'zoe')
  await isOver(alice)
  const again = await start(jobs, 'lxc:101', 'alice')
  await isOver(zoe)
  const andAgain = await start(jobs, 'lxc:101', 'zoe')

  await isOver(waiting)

  expect(await row(again)).toMatchObject({ status: 'running' })
  await isOver(again)
  await isOver(andAgain)
})

test('of those that start at once no more are taken than the bounds allow, whichever instance is asked', async () => {
  const demo = await startDemo()
  heldUpgrades(demo)
  const { jobs, again, start, db } = await jobService(demo)
  const other = again()
  const tried = async (targets: readonly string[], by: string) => {
    const all = targets.map((target, at) => start(at % 2 ? jobs : other.jobs, target, by))
    const refused = (await Promise.allSettled(all)).filter((one) => one.status === 'rejected')
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'queue_full', status: 429, retryAfter: 30 })
    return targets.length - refused.length
  }
  const many = (target: string, times: number) => Array.from({ length: times }, () => target)

  expect(await tried(many('lxc:101', 8), 'bob')).toBe(3)
  // However it is written.
  expect(await tried(['lxc:0101', 'lxc:00101'], 'bob')).toBe(0)
  expect(await tried([...many('host', 3), ...many('all', 3), 'lxc:102', 'lxc:102'], 'bob')).toBe(7)
  for (const by of ['alice', 'zoe', 'ops', 'eve'])
    expect(
      await tried(
        ['host', 'all', 'lxc:101', 'lxc:102'].flatMap((target) => many(target, 3)),
        by,
      ),
    ).toBe(10)
  expect(await tried(['host'], 'mallory')).toBe(0)
  expect(await statuses(db)).toHaveLength(50)
})

test('a job that was refused has left no entry in the audit log, nor anything else', async () => {
  const demo = await startDemo()
  heldUpgrades(demo)
  const { jobs, db } = await jobService(demo)
  const start = () =>
    jobs.start({
      kind: 'upgrade',
      args: { target: 'host' },
      target: 'host',
      startedBy: 1,
      announce: (id) => auditEntry({ ...ENTRY, target: id }, NOW),
    })
  const ids = [await start(), await start(), await start()]

  await expect(start()).rejects.toThrow('Trop de tâches')

  expect((await readAudit(db, { limit: 10 })).map(({ target }) => target).sort()).toEqual(ids.sort())
  expect(await statuses(db)).toHaveLength(3)
})

test('jobs of different targets wait for nothing', async () => {
  const demo = await startDemo()
  const { begun, end } = heldUpgrades(demo)
  const { jobs, start, ended, output } = await jobService(demo)
  const ids = [await start(jobs, 'lxc:101'), await start(jobs, 'lxc:102'), await start(jobs, 'host')]

  await expect.poll(() => [...begun].sort()).toEqual(['101', '102', 'host'])
  for (const place of ['host', '102', '101']) await end(place)

  for (const id of ids) expect(await ended(id)).toMatchObject({ status: 'success' })
  for (const id of ids) expect(await output(id)).not.toContain('En attente')
})

test('all waits for every container and every container for all, and the host for neither', async () => {
  const demo = await startDemo()
  const { begun, end } = heldUpgrades(demo)
  const { jobs, start, ended, output } = await jobService(demo)
  const one = await start(jobs, 'lxc:101')
  const all = await start(jobs, 'all')
  const host = await start(jobs, 'host')
  // Not in the way of the one that runs, but of `all`, which was there before.
  const two = await start(jobs, 'lxc:102')
  const again = await start(jobs, 'all')

  await expect.poll(() => output(all)).toBe(waits(one, 'lxc:101'))
  await expect.poll(() => output(two)).toBe(waits(all, 'all'))
  await expect.poll(() => output(again)).toBe(waits(one, 'lxc:101', ' et de 2 autres'))
  await expect.poll(() => [...begun].sort()).toEqual(['101', 'host'])
  await end('host')
  expect(await ended(host)).toMatchObject({ status: 'success' })
  expect(await output(host)).toBe('host\n')

  await end('101')
  await ended(one)
  await end('101')
  await end('102')
  await ended(all)
  await end('102')
  await ended(two)
  await end('101')
  await end('102')
  expect(await ended(again)).toMatchObject({ status: 'success' })
  expect(begun).toHaveLength(7)
})

test.each(['lxc:0101', 'lxc:00101'])('%s is lxc:101, and waits for it', async (target) => {
  const demo = await startDemo()
  heldUpgrades(demo)
  const { jobs, start, output } = await jobService(demo)
  const held = await start(jobs, 'lxc:101')

  const waiting = await start(jobs, target)

  await expect.poll(() => output(waiting)).toBe(waits(held, 'lxc:101'))
})

test('invalid targets wait for nothing, not for each other either', async () => {
  const demo = await startDemo()
  heldUpgrades(demo)
  const { jobs, start, ended, output } = await jobService(demo)
  await start(jobs, 'all')

  for (const target of ['nonsense', 'nonsense', 'lxc:', 'ALL']) {
    const id = await start(jobs, target)
    expect(await ended(id)).toMatchObject({ status: 'error', error_code: 'target_invalid' })
    expect(await output(id)).toBe('')
  }
})

test('a job that failed, or was cancelled while it waited, makes way for the next', async () => {
  const demo = await startDemo()
  const { begun, end } = heldUpgrades(demo)
  const { jobs, start, ended } = await jobService(demo)
  const one = await start(jobs, 'lxc:101')
  const two = await start(jobs, 'lxc:101')
  const three = await start(jobs, 'lxc:101')
  await expect.poll(() => begun).toHaveLength(1)

  await jobs.cancel(two, 'bob')
  expect(await ended(two)).toMatchObject({ status: 'error', error: 'Annulé par bob' })
  expect(begun).toHaveLength(1)
  demo.reboot()

  expect(await ended(one)).toMatchObject({ status: 'error', error_code: 'host_rebooted' })
  await expect.poll(() => begun, { timeout: 3_000 }).toHaveLength(2)
  await end('101')
  await end('101')
  expect(await ended(three)).toMatchObject({ status: 'success' })
})

test('a job that waits goes on waiting after a restart, and says nothing twice', async () => {
  const demo = await startDemo()
  const { begun, end } = heldUpgrades(demo)
  const { jobs, again, start, ended, output, row } = await jobService(demo)
  const one = await start(jobs, 'lxc:101')
  const two = await start(jobs, 'lxc:101')
  await expect.poll(() => output(two)).toBe(waits(one, 'lxc:101'))
  await expect.poll(() => begun).toHaveLength(1)

  await jobs.stop()
  await again().jobs.maintain()
  await expect.poll(async () => (await row(two)).epoch).toBe(2)
  await end('101')
  await ended(one)
  await end('101')

  expect(await ended(two)).toMatchObject({ status: 'success', epoch: 2 })
  expect(await output(two)).toBe(`${waits(one, 'lxc:101')}101\n`)
  expect(begun).toHaveLength(2)
})

test('a job waits for one of another instance, and begins soon after that has ended', async () => {
  const demo = await startDemo()
  const { begun, end } = heldUpgrades(demo)
  const { jobs, again, start, ended, output } = await jobService(demo)
  const other = again()
  const one = await start(jobs, 'lxc:101')
  const two = await start(other.jobs, 'lxc:101')
  const three = await start(jobs, 'lxc:101')

  await expect.poll(() => output(two)).toBe(waits(one, 'lxc:101'))
  await end('101')
  await ended(one)
  await expect.poll(() => begun, { timeout: 3_000 }).toHaveLength(2)
  expect(await output(three)).toBe(waits(one, 'lxc:101', ' et de 1 autre'))
  await end('101')
  await ended(two)
  await end('101')

  expect(await ended(three)).toMatchObject({ status: 'success' })
  expect(begun).toHaveLength(3)
})

test('while a job waits the host is not asked for anything', async () => {
  const demo = await startDemo()
  heldUpgrades(demo)
  const { jobs, start, output } = await jobService(demo)
  const one = await start(jobs, 'all')
  await expect.poll(() => output(one)).toContain('101\n')
  const before = demo.commands.length

  const people = Array.from({ length: 20 }, (_, at) => `user${at >> 1}`)
  const ids = await Promise.all(people.map((by) => start(jobs, 'all', by)))
  for (const id of ids) await expect.poll(() => output(id)).toContain(`En attente de la fin de la tâche ${one} (all)`)

  expect(demo.commands).toHaveLength(before)
})

test('twenty-four jobs over all targets, started at once at two instances, never meet, and all end', async () => {
  const demo = await startDemo()
  const running = new Map<string, number>()
  let most = 0
  demo.upgradeOutput = async function* (place) {
    const now = (running.get(place) ?? 0) + 1
    running.set(place, now)
    most = Math.max(most, now)
    yield `${place}\n`
    await new Promise((resolve) => setTimeout(resolve, 2))
    running.set(place, now - 1)
  }
  const { jobs, again, start, ended, db } = await jobService(demo)
  const other = again()
  const targets = ['lxc:101', 'host', 'lxc:102', 'all', 'nonsense', 'lxc:101']

  const ids = await Promise.all(
    Array.from({ length: 24 }, (_, at) =>
      start(at % 3 ? jobs : other.jobs, targets[at % targets.length] ?? '', `user${at % 5}`),
    ),
  )
  for (const id of ids) await ended(id)

  expect(most).toBe(1)
  expect((await statuses(db)).filter((status) => status === 'success')).toHaveLength(20)
})

// The queue by itself.

/** A queue over a database that can fail. */
async function queueOf() {
  const db = await openMigrated()
  const { log, lines } = createLog({ level: 'debug', pretty: false, write: () => {} })
  let failing = 0
  const flaky: Database = {
    ...db,
    query(row, sql, args) {
      if (failing === 0) return db.query(row, sql, args)
      failing -= 1
      return Promise.reject(new StorageError('away'))
    },
  }
  return {
    db,
    lines,
    queue: createJobQueue(flaky, log),
    fail(times: number) {
      failing = times
    },
  }
}

const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
const never = new AbortController().signal

test('a database that fails while one waits is asked again', async () => {
  const { db, queue, fail, lines } = await queueOf()
  const first = await recordJob(db, 'one')
  await recordJob(db, 'two')
  const told: string[][] = []
  const turn = queue.turn('two', async (before) => void told.push(before.map(({ id }) => id)), never)
  await expect.poll(() => told).toEqual([['one']])

  fail(1)
  queue.review()
  await expect.poll(() => lines().join('')).toContain('could not be read')
  await endJob(db, first, SUCCESS, { now: '' })
  queue.review()

  await turn
  expect(told).toEqual([['one']])
})

test('who gives up while it waits is let go at once, and is not told of any more', async () => {
  const { db, queue } = await queueOf()
  await recordJob(db, 'one')
  await recordJob(db, 'two')
  const leave = new AbortController()
  const turn = queue.turn('two', async () => {}, leave.signal).catch((reason: unknown) => reason)
  const reason = new Error('released')

  leave.abort(reason)

  expect(await turn).toBe(reason)
  expect(await queue.turn('two', async () => {}, leave.signal).catch((error: unknown) => error)).toBe(reason)
})

test('a turn comes only once what was to be said has been said; what cannot be said ends the wait', async () => {
  const { db, queue } = await queueOf()
  const first = await recordJob(db, 'one')
  await recordJob(db, 'two')
  let say = () => {}
  const said = new Promise<void>((resolve) => {
    say = resolve
  })
  let came = false
  const turn = queue
    .turn('two', () => said, never)
    .then(() => {
      came = true
    })
  await recordJob(db, 'three')
  const failed = new Error('not stored')
  expect(await queue.turn('three', () => Promise.reject(failed), never).catch((error: unknown) => error)).toBe(failed)
  await endJob(db, first, SUCCESS, { now: '' })
  queue.review()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(came).toBe(false)

  say()
  await turn
  expect(came).toBe(true)
})

test('a job that is not there, or has ended, has no turn any more', async () => {
  const { db, queue } = await queueOf()
  await recordJob(db, 'one')
  const ended = await recordJob(db, 'two')
  await endJob(db, ended, SUCCESS, { now: '' })
  const tell = () => Promise.reject(new Error('told'))

  await expect(queue.turn('two', tell, never)).rejects.toThrow(LeaseLost)
  await expect(queue.turn('none', tell, never)).rejects.toThrow(LeaseLost)
})

test('who gives up while it is being said for what it waits is let go when that has been said', async () => {
  const { db, queue } = await queueOf()
  await recordJob(db, 'one')
  await recordJob(db, 'two')
  let say = () => {}
  const leave = new AbortController()
  let asked = false
  const tell = () =>
    new Promise<void>((resolve) => {
      asked = true
      say = resolve
    })
  let left = false
  const turn = queue.turn('two', tell, leave.signal).catch(() => {
    left = true
  })
  await expect.poll(() => asked).toBe(true)

  leave.abort()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(left).toBe(false)
  say()
  await turn
  expect(left).toBe(true)
})

test('a job that another instance has taken and ended meanwhile is not begun', async () => {
  const demo = await startDemo()
  const { end } = heldUpgrades(demo)
  const { db, jobs, again, start, ended, expireLeases } = await jobService(demo)
  const first = await start(jobs, 'lxc:101')
  // Who takes over a job of which it is not known that it has begun asks for that again.
  await expect.poll(() => db.query(z.unknown(), 'SELECT 1 FROM jobs WHERE launched = 1')).toHaveLength(1)
  const second = await start(jobs, 'lxc:101')
  const other = again()
  await expireLeases()
  await other.jobs.maintain()

  await other.jobs.cancel(second, 'bob')

  expect((await ended(second)).error).toBe('Annulé par bob')
  // The former one looks at the queue once a second.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  expect(starts(demo)).toHaveLength(1)
  await end('101')
  expect(await ended(first)).toMatchObject({ status: 'success' })
})

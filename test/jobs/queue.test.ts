import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { auditEntry, readAudit } from '../../db/audit.ts'
import { addRun } from '../../db/job-start.ts'
import { endJob } from '../../db/jobs.ts'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import { saveUser } from '../../db/users.ts'
import type { DemoHost } from '../../demo/host.ts'
import { LeaseLost } from '../../jobs/output.ts'
import { createJobQueue } from '../../jobs/queue.ts'
import { createLog } from '../../platform/log.ts'
import { NOW, openMigrated } from '../db/database.ts'
import { LEASE, recordJob } from '../db/job.ts'
import { startDemo } from '../runtime/demo.ts'
import { jobService, starts } from './job-service.ts'

/** Makes each upgrade print its place and then run until the test ends it. */
function heldUpgrades(demo: DemoHost) {
  const started: string[] = []
  const ends: { place: string; end: () => void }[] = []
  demo.upgradeOutput = async function* (place) {
    started.push(place)
    yield `${place}\n`
    await new Promise<void>((resolve) => ends.push({ place, end: resolve }))
  }
  return {
    started,
    /** Ends the oldest upgrade of that place. */
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

test('jobs of one target run one after another in order of arrival, and report once which job they wait for', async () => {
  const demo = await startDemo()
  const { started, end } = heldUpgrades(demo)
  const { jobs, start, ended, output, row } = await jobService(demo)
  const one = await start(jobs, 'lxc:101')
  const two = await start(jobs, 'lxc:101')
  const three = await start(jobs, 'lxc:101')

  await expect.poll(() => output(three)).toBe(waits(one, 'lxc:101', ' et de 1 autre'))
  expect(await output(two)).toBe(waits(one, 'lxc:101'))
  await expect.poll(() => started).toEqual(['101'])
  expect(await row(three)).toMatchObject({ status: 'running', launched: false })

  for (const [at, id] of [one, two, three].entries()) {
    await expect.poll(() => started).toHaveLength(at + 1)
    expect(starts(demo)).toHaveLength(at + 1)
    await end('101')
    expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  }
  expect(await output(one)).toBe('101\n')
  expect(await output(three)).toBe(`${waits(one, 'lxc:101', ' et de 1 autre')}101\n`)
})

test('users are served in turn: a user who is new to a long queue waits for one job of each other user', async () => {
  const demo = await startDemo()
  const { started, end } = heldUpgrades(demo)
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
    await expect.poll(() => started, { timeout: 3_000 }).toHaveLength(at + 1)
    await end('101')
    expect(await ended(id)).toMatchObject({ status: 'success' })
  }
  // The first report was outdated when jobs that arrived later came first, so there is a second one.
  expect(await output(b2)).toBe(`${waits(b1, 'lxc:101')}${waits(a1, 'lxc:101', ' et de 1 autre')}101\n`)
})

test('two users who keep queuing jobs do not overtake the waiting job of a third one', async () => {
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

test('of jobs that start at once no more are taken than the bounds allow, whichever instance is asked', async () => {
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
  // Other spellings of the same target count as well.
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

test('runs of several targets leave the single jobs of all users their fifty', async () => {
  const demo = await startDemo()
  heldUpgrades(demo)
  const { jobs, again, start, db } = await jobService(demo)
  const other = again()
  const startRun = async (at: number, by: string) => {
    const { id: startedBy } = await saveUser(db, by, false, NOW)
    const targets = Array.from({ length: 100 }, (_, n) => `lxc:${1000 + n}`)
    const requests = targets.map((target) => ({ kind: 'upgrade', args: { target }, target, startedBy }))
    return (at % 2 ? jobs : other.jobs).startRun(`run ${by} ${at}`, requests)
  }
  const users = ['bob', 'alice', 'zoe', 'ops', 'eve']

  for (const by of ['bob', 'alice']) {
    const tried = await Promise.allSettled([0, 1, 2, 3].map((at) => startRun(at, by)))
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    for (const one of tried) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'queue_full' })
  }
  for (const by of users) for (let n = 0; n < 10; n += 1) await start(n % 2 ? jobs : other.jobs, `lxc:${2000 + n}`, by)

  await expect(start(jobs, 'host', 'mallory')).rejects.toMatchObject({ code: 'queue_full' })
  expect(await statuses(db)).toHaveLength(400 + 50)
})

test('a refused job leaves no audit entry and no record', async () => {
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

test('jobs of different targets do not wait for each other', async () => {
  const demo = await startDemo()
  const { started, end } = heldUpgrades(demo)
  const { jobs, start, ended, output } = await jobService(demo)
  const ids = [await start(jobs, 'lxc:101'), await start(jobs, 'lxc:102'), await start(jobs, 'host')]

  await expect.poll(() => [...started].sort()).toEqual(['101', '102', 'host'])
  for (const place of ['host', '102', '101']) await end(place)

  for (const id of ids) expect(await ended(id)).toMatchObject({ status: 'success' })
  for (const id of ids) expect(await output(id)).not.toContain('En attente')
})

test('a job of all waits for every container, a container waits for all, and the host for neither', async () => {
  const demo = await startDemo()
  const { started, end } = heldUpgrades(demo)
  const { jobs, start, ended, output } = await jobService(demo)
  const one = await start(jobs, 'lxc:101')
  const all = await start(jobs, 'all')
  const host = await start(jobs, 'host')
  // The job does not conflict with the running one, but with `all`, which was there before.
  const two = await start(jobs, 'lxc:102')
  const again = await start(jobs, 'all')

  await expect.poll(() => output(all)).toBe(waits(one, 'lxc:101'))
  await expect.poll(() => output(two)).toBe(waits(all, 'all'))
  await expect.poll(() => output(again)).toBe(waits(one, 'lxc:101', ' et de 2 autres'))
  await expect.poll(() => [...started].sort()).toEqual(['101', 'host'])
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
  expect(started).toHaveLength(7)
})

test.each(['lxc:0101', 'lxc:00101'])('%s is the same target as lxc:101, and waits for it', async (target) => {
  const demo = await startDemo()
  heldUpgrades(demo)
  const { jobs, start, output } = await jobService(demo)
  const held = await start(jobs, 'lxc:101')

  const waiting = await start(jobs, target)

  await expect.poll(() => output(waiting)).toBe(waits(held, 'lxc:101'))
})

test('jobs with invalid targets never wait, even for each other', async () => {
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

test('a job that runs alone waits for all that work, and comes before all that wait or come later', async () => {
  const db = await openMigrated()
  const { log } = createLog({ level: 'silent', write: () => {} })
  const queue = createJobQueue(db, log, () => new Date(0))
  const begun: string[] = []
  const reports: string[] = []
  const turn = (id: string) =>
    queue
      .turn(
        id,
        async (ahead) => void reports.push(`${id}: ${ahead.map((job) => job.id)}`),
        new AbortController().signal,
      )
      .then(() => begun.push(id))
  const end = async (job: Parameters<typeof endJob>[1]) => {
    await endJob(db, job, { status: 'success', error: null, error_code: null, exit_code: 0 }, { now: NOW })
    queue.review()
  }
  const check = await recordJob(db, 'check', { kind: 'check', queue: '' })
  await turn('check')
  const upgrade = await recordJob(db, 'upgrade')
  await turn('upgrade')
  await recordJob(db, 'waiting')
  const waiting = turn('waiting')
  const reboot = await recordJob(db, 'reboot', { kind: 'reboot', queue: '*' })
  const rebooted = turn('reboot')
  await recordJob(db, 'late', { kind: 'check', queue: '', target: 'lxc:101' })
  const late = turn('late')
  await recordJob(db, 'other', { queue: 'container/101' })
  const other = turn('other')

  await expect
    .poll(() => reports.sort())
    .toEqual(['late: reboot', 'other: reboot', 'reboot: check,upgrade', 'waiting: upgrade'])
  await end(check)
  await end(upgrade)
  await rebooted
  await expect.poll(() => reports).toContain('waiting: reboot')
  expect(begun).toEqual(['check', 'upgrade', 'reboot'])

  await end(reboot)
  await Promise.all([waiting, late, other])
  expect(begun).toHaveLength(6)
})

test('the next job starts after one that failed, or that was cancelled while queued', async () => {
  const demo = await startDemo()
  const { started, end } = heldUpgrades(demo)
  const { jobs, start, ended } = await jobService(demo)
  const one = await start(jobs, 'lxc:101')
  const two = await start(jobs, 'lxc:101')
  const three = await start(jobs, 'lxc:101')
  await expect.poll(() => started).toHaveLength(1)

  await jobs.cancel(two, 'bob')
  expect(await ended(two)).toMatchObject({ status: 'error', error: 'Annulé par bob' })
  expect(started).toHaveLength(1)
  demo.reboot()

  expect(await ended(one)).toMatchObject({ status: 'error', error_code: 'host_rebooted' })
  await expect.poll(() => started, { timeout: 3_000 }).toHaveLength(2)
  await end('101')
  await end('101')
  expect(await ended(three)).toMatchObject({ status: 'success' })
})

test('a waiting job keeps waiting after a restart, and does not repeat its report', async () => {
  const demo = await startDemo()
  const { started, end } = heldUpgrades(demo)
  const { jobs, again, start, ended, output, row } = await jobService(demo)
  const one = await start(jobs, 'lxc:101')
  const two = await start(jobs, 'lxc:101')
  await expect.poll(() => output(two)).toBe(waits(one, 'lxc:101'))
  await expect.poll(() => started).toHaveLength(1)

  await jobs.stop()
  await again().jobs.maintain()
  await expect.poll(async () => (await row(two)).epoch).toBe(2)
  await end('101')
  await ended(one)
  await end('101')

  expect(await ended(two)).toMatchObject({ status: 'success', epoch: 2 })
  expect(await output(two)).toBe(`${waits(one, 'lxc:101')}101\n`)
  expect(started).toHaveLength(2)
})

test('a job waits for one of another instance, and starts soon after its end', async () => {
  const demo = await startDemo()
  const { started, end } = heldUpgrades(demo)
  const { jobs, again, start, ended, output } = await jobService(demo)
  const other = again()
  const one = await start(jobs, 'lxc:101')
  const two = await start(other.jobs, 'lxc:101')
  const three = await start(jobs, 'lxc:101')

  await expect.poll(() => output(two)).toBe(waits(one, 'lxc:101'))
  await end('101')
  await ended(one)
  await expect.poll(() => started, { timeout: 3_000 }).toHaveLength(2)
  expect(await output(three)).toBe(waits(one, 'lxc:101', ' et de 1 autre'))
  await end('101')
  await ended(two)
  await end('101')

  expect(await ended(three)).toMatchObject({ status: 'success' })
  expect(started).toHaveLength(3)
})

test('a waiting job does not ask the host for anything', async () => {
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

test('twenty-four jobs over all targets that start at once at two instances never conflict, and all end', async () => {
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

// From here on, the queue without the jobs.

/** A queue over a database that can fail. */
async function queueOf() {
  const db = await openMigrated()
  const { log, lines } = createLog({ level: 'debug', write: () => {} })
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
    queue: createJobQueue(flaky, log, () => new Date(0)),
    fail(times: number) {
      failing = times
    },
  }
}

const SUCCESS = { status: 'success', error: null, error_code: null, exit_code: 0 } as const
const never = new AbortController().signal

test('the queue is read again after a failure of the database', async () => {
  const { db, queue, fail, lines } = await queueOf()
  const first = await recordJob(db, 'one')
  await recordJob(db, 'two')
  const reports: string[][] = []
  const turn = queue.turn('two', async (ahead) => void reports.push(ahead.map(({ id }) => id)), never)
  await expect.poll(() => reports).toEqual([['one']])

  fail(1)
  queue.review()
  await expect.poll(() => lines().join('')).toContain('could not be read')
  await endJob(db, first, SUCCESS, { now: '' })
  queue.review()

  await turn
  expect(reports).toEqual([['one']])
})

test('a job that comes late in its run does not hold up what its run waits for', async () => {
  const { db, queue } = await queueOf()
  const { id: alice } = await saveUser(db, 'alice', false, NOW)
  const of = (number: string) => ({ queue: `lxc/${number}`, target: `lxc:${number}` })
  // Two jobs of bob give the next one in their queue a higher turn.
  for (const id of ['former', 'second']) {
    const job = await recordJob(db, id, of('101'))
    await queue.turn(id, async () => {}, never)
    await endJob(db, job, SUCCESS, { now: NOW })
  }
  const working = await recordJob(db, 'working', { ...of('103'), started_by: alice })
  await queue.turn('working', async () => {}, never)
  const all = await recordJob(db, 'all', { queue: 'lxc/*', target: 'all', started_by: alice })
  const { id: started_by } = await saveUser(db, 'bob', false, NOW)
  const job = (id: string, late: number) => ({
    job: { id: `run ${id}`, kind: 'upgrade', args: '{}', started_at: NOW, started_by, ...of(id), late },
    more: [],
  })
  const [first] = await addRun(db, { id: 'run', jobs: [job('101', 0), job('102', 2)] }, LEASE)
  const begun: string[] = []
  const turn = (id: string) => queue.turn(id, async () => {}, never).then(() => void begun.push(id))
  const turns = ['all', 'run 101', 'run 102'].map(turn)
  const end = async (one: typeof first) => {
    if (one) await endJob(db, one, SUCCESS, { now: NOW })
    queue.review()
  }

  await end(working)
  await expect.poll(() => begun).toEqual(['all'])
  await end(all)
  await expect.poll(() => begun).toEqual(['all', 'run 101'])
  await end(first)
  await Promise.all(turns)
  expect(begun).toEqual(['all', 'run 101', 'run 102'])
})

test('an aborted wait rejects at once, and an aborted signal starts no wait', async () => {
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

test('a turn starts only after the report of the wait is stored; a failed report ends the wait', async () => {
  const { db, queue } = await queueOf()
  const first = await recordJob(db, 'one')
  await recordJob(db, 'two')
  let finishReport = () => {}
  const report = new Promise<void>((resolve) => {
    finishReport = resolve
  })
  let started = false
  const turn = queue
    .turn('two', () => report, never)
    .then(() => {
      started = true
    })
  await recordJob(db, 'three')
  const failed = new Error('not stored')
  expect(await queue.turn('three', () => Promise.reject(failed), never).catch((error: unknown) => error)).toBe(failed)
  await endJob(db, first, SUCCESS, { now: '' })
  queue.review()
  await expect.poll(() => db.query(z.unknown(), `SELECT 1 FROM jobs WHERE id = 'two' AND begun = 1`)).toHaveLength(1)
  await nextTurn()
  expect(started).toBe(false)

  finishReport()
  await turn
  expect(started).toBe(true)
})

test('a missing or ended job gets no turn', async () => {
  const { db, queue } = await queueOf()
  await recordJob(db, 'one')
  const ended = await recordJob(db, 'two')
  await endJob(db, ended, SUCCESS, { now: '' })
  const report = () => Promise.reject(new Error('reported'))

  await expect(queue.turn('two', report, never)).rejects.toThrow(LeaseLost)
  await expect(queue.turn('none', report, never)).rejects.toThrow(LeaseLost)
})

test('a wait that is aborted during its report rejects after the report', async () => {
  const { db, queue } = await queueOf()
  await recordJob(db, 'one')
  await recordJob(db, 'two')
  let finishReport = () => {}
  const leave = new AbortController()
  let reporting = false
  const report = () =>
    new Promise<void>((resolve) => {
      reporting = true
      finishReport = resolve
    })
  let left = false
  const turn = queue.turn('two', report, leave.signal).catch(() => {
    left = true
  })
  await expect.poll(() => reporting).toBe(true)

  leave.abort()
  await nextTurn()
  expect(left).toBe(false)
  finishReport()
  await turn
  expect(left).toBe(true)
})

test('a waiting job that another instance has taken over and ended is not started', async () => {
  const demo = await startDemo()
  const { end } = heldUpgrades(demo)
  let reads = 0
  const counted = (db: Database): Database => ({
    ...db,
    query(row, sql, args) {
      if (sql.includes('queue, target, begun')) reads += 1
      return db.query(row, sql, args)
    },
  })
  const { db, jobs, again, start, ended, output, expireLeases } = await jobService(demo, { wrap: counted })
  const first = await start(jobs, 'lxc:101')
  // Before the start is recorded, a takeover would ask the host to start the job again.
  await expect.poll(() => db.query(z.unknown(), 'SELECT 1 FROM jobs WHERE launched = 1')).toHaveLength(1)
  const second = await start(jobs, 'lxc:101')
  // A report that is stored later would tell the previous follower that it has lost the job.
  await expect.poll(() => output(second)).toBe(waits(first, 'lxc:101'))
  const other = again()
  await expireLeases()
  await other.jobs.maintain()

  await other.jobs.cancel(second, 'bob')

  expect((await ended(second)).error).toBe('Annulé par bob')
  // The previous follower reads the queue once more, and its wait ends.
  const before = reads
  await expect.poll(() => reads).toBeGreaterThan(before)
  await end('101')
  expect(await ended(first)).toMatchObject({ status: 'success' })
  expect(starts(demo)).toHaveLength(1)
})

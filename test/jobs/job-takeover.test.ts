import { expect, test } from 'vitest'
import { queuedJobs } from '../../db/job-list.ts'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import { startDemo } from '../runtime/demo.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'
import { beforeScript, jobService, listen, starts } from './job-service.ts'

/** An instance with a job that has printed `avant, `, and the control of its further output. */
async function running(options: Parameters<typeof jobService>[1] = {}) {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const service = await jobService(demo, options)
  const id = await service.start(service.jobs, 'lxc:101')
  output.print('avant, ')
  await expect.poll(() => service.output(id)).toBe('avant, ')
  return { ...service, demo, print: output, id }
}

/** Wraps a database so that a test can make all writes of one instance fail. */
function disconnectable() {
  let away = false
  const refused = () => Promise.reject(new StorageError('away'))
  return {
    disconnect() {
      away = true
    },
    reconnect() {
      away = false
    },
    wrap: (db: Database): Database => ({
      ...db,
      batch: (statements) => (away ? refused() : db.batch(statements)),
      run: (sql, args) => (away ? refused() : db.run(sql, args)),
    }),
  }
}

test('a job with a valid lease is not taken over', async () => {
  const { again, demo, jobs, id, row } = await running()
  const followed = beforeScript(demo, 'follow')

  await again().jobs.maintain()
  await jobs.maintain()

  expect(await row(id)).toMatchObject({ epoch: 1, status: 'running' })
  expect(followed()).toBe(0)
})

test('maintenance renews the leases of the instance’s own jobs', async () => {
  const { again, jobs, expireLeases, id, row } = await running()
  await expireLeases()

  await jobs.maintain()
  await again().jobs.maintain()

  expect(await row(id)).toMatchObject({ epoch: 1 })
})

test('another instance takes over a job whose lease has expired, and continues at the stored byte', async () => {
  const { again, expireLeases, print, id, row, ended, output, demo } = await running()
  await expireLeases()

  const other = again()
  const subscriber = listen(other.hub, id)
  await other.jobs.maintain()
  print.print('après')
  print.end()

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0, epoch: 2 })
  expect(await output(id)).toBe('avant, après')
  expect(starts(demo)).toHaveLength(1)
  expect(subscriber.events.at(-1)).toMatchObject({ type: 'update_done' })
  expect(await row(id)).toMatchObject({ output_size: print.text().length + 1 })
})

test('a job whose instance’s process is gone is taken over at once, before its lease expires', async () => {
  const { again, print, id, ended, row } = await running()

  await again({ gone: ['instance 7'] }).jobs.maintain()
  expect(await row(id)).toMatchObject({ epoch: 1 })
  await again({ gone: ['instance 1'] }).jobs.maintain()
  print.end()

  expect(await ended(id)).toMatchObject({ status: 'success', epoch: 2 })
})

test('an instance that stops releases its jobs, which continue, and another takes them over at once', async () => {
  const { again, jobs, print, id, row, ended, output, demo } = await running()

  await jobs.stop()
  expect(await row(id)).toMatchObject({ status: 'running', error: null, epoch: 1 })
  await again().jobs.maintain()
  print.print('après')
  print.end()

  expect(await ended(id)).toMatchObject({ status: 'success', epoch: 2 })
  expect(await output(id)).toBe('avant, après')
  expect(starts(demo)).toHaveLength(1)
})

test('a stopped instance takes no job over', async () => {
  const { jobs, expireLeases, id, row } = await running()
  await jobs.stop()
  await expireLeases()

  await jobs.maintain()

  expect(await row(id)).toMatchObject({ epoch: 1, status: 'running' })
})

test('one of several instances that find an expired lease at the same time follows the job', async () => {
  const { again, expireLeases, print, id, ended, output, demo } = await running()
  const followed = beforeScript(demo, 'follow')
  await expireLeases()

  const others = Array.from({ length: 5 }, () => again())
  await Promise.all(others.map(({ jobs }) => jobs.maintain()))
  print.print('après')
  print.end()

  expect(await ended(id)).toMatchObject({ status: 'success', epoch: 2 })
  expect(await output(id)).toBe('avant, après')
  expect(followed()).toBe(1)
})

test('a previous follower notices the takeover when it writes, and writes no byte, no end and no event', async () => {
  const { again, hub, expireLeases, print, id, ended, output, lines } = await running()
  const former = listen(hub, id)
  await expireLeases()
  const other = again()
  await other.jobs.maintain()

  // Both instances now read the output from the host.
  print.print('pendant, ')
  await expect.poll(() => output(id)).toBe('avant, pendant, ')
  await expect.poll(() => lines().some((line) => line.includes('job let go'))).toBe(true)
  print.print('après')
  print.end()

  expect(await ended(id)).toMatchObject({ status: 'success', epoch: 2 })
  expect(await output(id)).toBe('avant, pendant, après')
  // Its subscribers get the output that the other instance stores, each piece once.
  await expect.poll(() => former.events.at(-1)?.type).toBe('update_done')
  expect(former.text(7)).toBe('pendant, après')
})

test('a previous follower without output to write releases the job during maintenance', async () => {
  const { again, jobs, print, id, ended, lines } = await running()
  await again({ gone: ['instance 1'] }).jobs.maintain()
  expect(lines().join('')).not.toContain('job let go')

  await jobs.maintain()

  await expect.poll(() => lines().filter((line) => line.includes('job let go'))).toHaveLength(1)
  print.end()
  expect(await ended(id)).toMatchObject({ epoch: 2, status: 'success' })
})

test('an instance that was disconnected from the database during a takeover does no harm afterwards', async () => {
  const { disconnect, reconnect, wrap } = disconnectable()
  const { again, expireLeases, print, id, ended, output, lines } = await running({ wrap })
  disconnect()
  print.print('un, ')
  await expect.poll(() => lines().some((line) => line.includes('the database failed'))).toBe(true)
  await expireLeases()
  await again().jobs.maintain()
  await expect.poll(() => output(id)).toBe('avant, un, ')

  reconnect()
  await expect.poll(() => lines().some((line) => line.includes('job let go')), { timeout: 5_000 }).toBe(true)
  print.print('deux')
  print.end()

  expect(await ended(id)).toMatchObject({ status: 'success', epoch: 2 })
  expect(await output(id)).toBe('avant, un, deux')
})

test('a job whose instance died before it recorded the start is not started twice', async () => {
  const demo = await startDemo()
  let runs = 0
  const { disconnect, wrap } = disconnectable()
  demo.upgradeOutput = async function* () {
    runs += 1
    yield `passage ${runs}`
  }
  const { again, jobs, start, row, ended, output } = await jobService(demo, { wrap })
  beforeScript(demo, 'start', (times) => {
    if (times === 0) disconnect()
    return undefined
  })
  const id = await start(jobs, 'lxc:101')
  await expect.poll(() => runs).toBe(1)

  await again({ gone: ['instance 1'] }).jobs.maintain()

  expect(await ended(id)).toMatchObject({ status: 'success', launched: true, epoch: 2 })
  expect(await output(id)).toBe('passage 1')
  expect(runs).toBe(1)
  expect(await row(id)).toMatchObject({ exit_code: 0 })
})

test('a job that was recorded but not started is started by the instance that takes it over', async () => {
  const demo = await startDemo()
  const { disconnect, wrap } = disconnectable()
  beforeScript(demo, 'start', (times) => (times === 0 ? new Promise(() => {}) : undefined))
  const { again, jobs, start, ended, output } = await jobService(demo, { wrap })
  const id = await start(jobs, 'lxc:101')
  await expect.poll(() => starts(demo)).toHaveLength(1)
  disconnect()

  await again({ gone: ['instance 1'] }).jobs.maintain()

  expect(await ended(id)).toMatchObject({ status: 'success', epoch: 2 })
  expect(await output(id)).toContain('5 upgraded')
})

test('a job that a dead instance may have started is retried while the host is unreachable', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { disconnect, wrap } = disconnectable()
  beforeScript(demo, 'start', (times) => {
    if (times === 0) disconnect()
    return undefined
  })
  const { again, jobs, start, row, ended, output: stored, lines } = await jobService(demo, { wrap })
  const id = await start(jobs, 'lxc:101')
  await expect.poll(() => starts(demo)).toHaveLength(1)
  demo.accepting = false
  demo.cut()

  await again({ gone: ['instance 1'] }).jobs.maintain()
  await expect.poll(() => lines().some((line) => line.includes('the host is not reached'))).toBe(true)
  expect(await row(id)).toMatchObject({ status: 'running', error: null })
  demo.accepting = true
  output.print('fait')
  output.end()

  expect(await ended(id)).toMatchObject({ status: 'success' })
  expect(await stored(id)).toBe('fait')
})

test('a job whose audit entry cannot be written is never recorded or started', async () => {
  const demo = await startDemo()
  const { jobs, db } = await jobService(demo)
  const announce = () => ({ sql: 'INSERT INTO nowhere VALUES (1)' })

  const started = jobs.start({ kind: 'upgrade', args: { target: 'host' }, target: 'host', startedBy: 1, announce })

  await expect(started).rejects.toThrow(StorageError)
  await jobs.maintain()
  expect(await queuedJobs(db)).toEqual([])
  expect(starts(demo)).toEqual([])
})

test('a subscriber at another instance gets all output after its last byte without delay, and the end', async () => {
  const { again, print, id, output } = await running()
  const other = again()
  const subscriber = listen(other.hub, id)
  // Stored after the subscriber has read, and before the relay starts.
  print.print('entre-temps, ')
  await expect.poll(() => output(id)).toBe('avant, entre-temps, ')

  other.jobs.relay('update', id, 7)

  await expect.poll(() => subscriber.text(7)).toBe('entre-temps, ')
  print.print('pendant, ')
  await expect.poll(() => subscriber.text(7)).toBe('entre-temps, pendant, ')
  print.print('après')
  print.end()
  await expect
    .poll(() => subscriber.events.at(-1))
    .toMatchObject({ type: 'update_done', seq: 35, data: { job_id: id } })
  expect(subscriber.text(7)).toBe('entre-temps, pendant, après')
})

test('a subscriber at the previous follower gets the output that the new one stored before the release', async () => {
  const { again, hub, jobs, print, id, output } = await running()
  const subscriber = listen(hub, id)
  const other = again({ gone: ['instance 1'] })
  await other.jobs.maintain()
  // The previous follower does not notice the takeover before its maintenance, and writes nothing.
  await jobs.maintain()
  print.print('pendant, ')
  await expect.poll(() => output(id)).toBe('avant, pendant, ')

  await expect.poll(() => subscriber.text(7)).toBe('pendant, ')
  print.end()
  await expect.poll(() => subscriber.events.at(-1)?.type).toBe('update_done')
})

test('a subscriber at the new follower gets all output that the previous one stored', async () => {
  const { again, jobs, print, id, output } = await running()
  const other = again()
  const subscriber = listen(other.hub, id)
  other.jobs.relay('update', id, 0)
  await expect.poll(() => subscriber.text()).toBe('avant, ')

  print.print('un dernier mot')
  await expect.poll(() => output(id), { interval: 1 }).toBe('avant, un dernier mot')
  await jobs.stop()
  await other.jobs.maintain()

  // The job prints nothing more.
  await expect.poll(() => subscriber.text()).toBe('avant, un dernier mot')
  print.end()
  await expect.poll(() => subscriber.events.at(-1)?.type).toBe('update_done')
})

test('the output of another instance’s job is queried only while it has subscribers', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, again, start } = await jobService(demo)
  const id = await start(jobs, 'lxc:101')
  const beside = await start(jobs, 'host')
  const asked: { about: unknown; at: number }[] = []
  const record = (db: Database): Database => ({
    ...db,
    query(row, sql, args) {
      asked.push({ about: args?.[0], at: performance.now() })
      return db.query(row, sql, args)
    },
  })
  const other = again({ wrap: record })
  const times = (job: string) => asked.filter(({ about }) => about === job).map(({ at }) => at)
  const subscribe = (job: string) => other.hub.subscribe(`update:${job}`, { deliver() {}, finish() {} })
  const leave = subscribe(id)
  for (let round = 0; round < 5; round += 1) other.jobs.relay('update', id, 0)
  // The relay polls four times a second, however many calls have asked for it.
  await expect.poll(() => times(id).length).toBeGreaterThanOrEqual(4)
  const [first = 0, , , fourth = 0] = times(id)
  expect(fourth - first).toBeGreaterThan(700)

  // Three polls about another job show that the time of two has passed.
  subscribe(beside)
  other.jobs.relay('update', beside, 0)
  leave()
  const before = times(id).length
  await expect.poll(() => times(beside).length).toBeGreaterThanOrEqual(3)
  expect(times(id)).toHaveLength(before)
  output.end()
})

import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { type Database, StorageError } from '../../db/client.ts'
import { findJob, type JobRow } from '../../db/jobs.ts'
import { readOutput } from '../../db/output.ts'
import { saveUser } from '../../db/users.ts'
import type { DemoHost } from '../../demo/host.ts'
import { upgradeJob } from '../../functions/updates/upgrade.ts'
import type { Config } from '../../runtime/config.ts'
import { createHost } from '../../runtime/host.ts'
import { createHub, type Frame } from '../../runtime/hub.ts'
import { createJobs, type Jobs } from '../../runtime/jobs.ts'
import { NOW } from '../db/database.ts'
import { hostOf, startDemo } from './demo.ts'
import { controlledOutput } from './upgrade-output.ts'

/** The jobs of one instance; `again` is the next one, after a restart. */
async function service(
  demo: DemoHost,
  { ssh, wrap = (db) => db }: { ssh?: Partial<Config['ssh']>; wrap?(db: Database): Database } = {},
) {
  const { settings, db, log, lines } = await hostOf(demo, ssh)
  const { id: startedBy } = await saveUser(db, 'bob', false, NOW)
  const begin = () => {
    const host = createHost({ settings, log })
    onTestFinished(() => host.close())
    const hub = createHub()
    const clock = () => new Date(NOW)
    const jobs = createJobs({ db: wrap(db), host, hub, clock, log, kinds: [upgradeJob] })
    onTestFinished(() => jobs.stop())
    return { hub, jobs }
  }
  const start = (jobs: Jobs, target: string) => jobs.start({ kind: 'upgrade', args: { target }, target, startedBy })
  const ended = async (id: string): Promise<JobRow> => {
    await expect.poll(async () => (await findJob(db, id))?.status, { timeout: 8_000, interval: 10 }).not.toBe('running')
    const row = await findJob(db, id)
    if (!row) throw new Error('no such job')
    return row
  }
  const output = async (id: string): Promise<string> => {
    const chunks = await readOutput(db, id, 0, 1e12)
    return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
  }
  return { ...begin(), again: begin, start, ended, output, db, lines }
}

/** What subscribers of a job are told, as events. */
function listen(hub: ReturnType<typeof createHub>, id: string) {
  const events: unknown[] = []
  let silent = false
  const read = ({ bytes }: Frame) => JSON.parse(bytes.toString())
  hub.subscribe(`update:${id}`, {
    deliver: (frame) => events.push(read(frame)),
    finish(frame) {
      if (frame) events.push(read(frame))
      else silent = true
    },
  })
  return { events, silent: () => silent }
}

const starts = (demo: DemoHost) =>
  demo.commands.filter((words) => words[3] === 'ops-panel-job' && words[4]?.includes('process.new'))

test('stores what the host printed, byte for byte, and U+FFFD where it was no UTF-8', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, start, ended, output: stored, hub } = await service(demo)
  const id = await start(jobs, 'lxc:101')
  const { events } = listen(hub, id)

  const euro = Buffer.from('€')
  output.print('première ligne\r\n')
  output.print(euro.subarray(0, 1))
  output.print(euro.subarray(1))
  output.print(Buffer.from([0xff, 0xc3, 0x28, 0x0a]))
  for (let line = 0; line < 200; line += 1) output.print(Buffer.from(`ligne ${line} \xe9\n`, 'latin1'))
  output.print(Buffer.from([0xf0, 0x9f]))
  output.end()

  const row = await ended(id)
  expect(await stored(id)).toBe(output.text())
  expect(row).toMatchObject({
    status: 'success',
    error: null,
    exit_code: 0,
    output_size: Buffer.byteLength(output.text()),
  })
  expect(events.at(-1)).toEqual({
    type: 'update_done',
    topic: `update:${id}`,
    seq: row.output_size,
    data: { job_id: id },
  })
})

test('an id is the second of its start and eight random characters', async () => {
  const demo = await startDemo()
  const { jobs, start } = await service(demo)

  const ids = await Promise.all(Array.from({ length: 20 }, () => start(jobs, 'nonsense')))

  for (const id of ids) expect(id).toMatch(new RegExp(`^${Date.parse(NOW) / 1000}-[a-z0-9]{8}$`))
  expect(new Set(ids).size).toBe(20)
})

test('the command’s exit code is kept and decides nothing', async () => {
  const demo = await startDemo()
  const { jobs, start, ended } = await service(demo)

  expect(await ended(await start(jobs, 'lxc:103'))).toMatchObject({ status: 'success', exit_code: 255, error: null })
})

test('the job’s folder is removed when it has ended', async () => {
  const demo = await startDemo()
  const { jobs, start, ended } = await service(demo)

  const id = await start(jobs, 'lxc:101')
  await ended(id)

  await expect.poll(() => demo.commands.at(-1)?.join(' ')).toMatch(new RegExp(`rm -rf[\\s\\S]*${id}$`))
})

test('a connection that is cut in the middle ends the job in an error that names it; what had come stays', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, hub, start, ended, output: stored } = await service(demo)
  const id = await start(jobs, 'lxc:101')
  const { events } = listen(hub, id)
  output.print('avant la coupure\n')
  await expect.poll(() => stored(id)).toBe('avant la coupure\n')

  demo.cut()

  const row = await ended(id)
  expect(row).toMatchObject({
    status: 'error',
    error_code: 'ssh_failed',
    error: expect.stringMatching(/^Erreur SSH : ./),
  })
  expect(await stored(id)).toBe('avant la coupure\n')
  expect(events.at(-1)).toEqual({
    type: 'update_error',
    topic: `update:${id}`,
    seq: row.output_size,
    data: { error: row.error },
  })
})

test('a host that is not there ends the job at once', async () => {
  const demo = await startDemo()
  const { jobs, start, ended, output } = await service(demo)
  demo.accepting = false

  const id = await start(jobs, 'lxc:101')

  expect(await ended(id)).toMatchObject({
    status: 'error',
    error: expect.stringMatching(/^Erreur SSH : ./),
    exit_code: null,
  })
  expect(await output(id)).toBe('')
})

test('a wrong service password ends the job in an error', async () => {
  const demo = await startDemo()
  const { jobs, start, ended } = await service(demo, { ssh: { password: 'wrong' } })

  expect(await ended(await start(jobs, 'host'))).toMatchObject({
    status: 'error',
    error: expect.stringMatching(/^Erreur SSH : ./),
  })
  expect(demo.commands).toEqual([])
})

test('an invalid target ends the job without an event, and the host is not touched', async () => {
  const demo = await startDemo()
  const { jobs, hub, start, ended } = await service(demo)

  const id = await start(jobs, 'nonsense')
  const { events, silent } = listen(hub, id)

  expect(await ended(id)).toMatchObject({
    status: 'error',
    error: 'Cible invalide : nonsense',
    error_code: 'target_invalid',
  })
  await expect.poll(silent).toBe(true)
  expect(events).toEqual([])
  expect(demo.commands).toEqual([])
})

test('a restart of the service takes a running job up from the stored byte: each byte once, and started once', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, again, start, ended, output: stored, db } = await service(demo)
  const id = await start(jobs, 'lxc:101')
  output.print('avant é, ')
  output.print(Buffer.from([0xe2, 0x82]))
  await expect.poll(() => stored(id)).toBe('avant é, ')

  await jobs.stop()
  expect(await findJob(db, id)).toMatchObject({ status: 'running', error: null })
  output.print(Buffer.concat([Buffer.from([0xac]), Buffer.from(' pendant, ')]))
  const next = again()
  const { events } = listen(next.hub, id)
  await next.jobs.adopt()
  await expect.poll(() => stored(id)).toBe('avant é, € pendant, ')
  output.print('après')
  output.end()

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await stored(id)).toBe('avant é, € pendant, après')
  expect(starts(demo)).toHaveLength(1)
  expect(events.at(-1)).toMatchObject({ type: 'update_done' })
})

test('a job that ended while the service was away is taken up with all of its output', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, again, start, ended, output: stored } = await service(demo)
  const id = await start(jobs, 'lxc:101')
  output.print('avant, ')
  await expect.poll(() => stored(id)).toBe('avant, ')
  await jobs.stop()
  output.print('sans témoin')
  output.end()

  await again().jobs.adopt()

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await stored(id)).toBe('avant, sans témoin')
})

test('a job that a reboot of the host ended is taken up as an error, with what it had put out', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, again, start, ended, output: stored } = await service(demo)
  const id = await start(jobs, 'lxc:101')
  output.print('avant')
  await expect.poll(() => stored(id)).toBe('avant')
  await jobs.stop()

  demo.reboot()
  await again().jobs.adopt()

  expect(await ended(id)).toMatchObject({
    status: 'error',
    error: expect.stringMatching(/^Erreur SSH : .*interrompue/),
  })
  expect(await stored(id)).toBe('avant')
})

test('what has ended is not taken up again', async () => {
  const demo = await startDemo()
  const { jobs, again, start, ended } = await service(demo)
  await ended(await start(jobs, 'lxc:101'))
  await expect.poll(() => demo.commands.at(-1)?.join(' ')).toContain('rm -rf')
  const before = demo.commands.length

  await again().jobs.adopt()

  expect(demo.commands).toHaveLength(before)
})

test('a database that fails for a while costs no byte and none twice', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  let failing = 0
  const wrap = (db: Database): Database => ({
    ...db,
    batch(statements) {
      if (failing === 0) return db.batch(statements)
      failing -= 1
      return Promise.reject(new StorageError('disk full'))
    },
  })
  const { jobs, start, ended, output: stored } = await service(demo, { wrap })
  const id = await start(jobs, 'lxc:101')
  output.print('avant, ')
  await expect.poll(() => stored(id)).toBe('avant, ')

  failing = 1
  output.print('perdu un instant, ')
  await expect.poll(() => failing).toBe(0)
  output.print('après')
  output.end()

  expect(await ended(id)).toMatchObject({ status: 'success' })
  expect(await stored(id)).toBe(output.text())
})

test('twenty-five jobs run side by side to their end', async () => {
  const demo = await startDemo({ lineMs: 1 })
  const { jobs, start, ended, output } = await service(demo)

  const ids = await Promise.all(Array.from({ length: 25 }, (_, at) => start(jobs, at % 2 ? 'lxc:101' : 'lxc:102')))

  for (const id of ids) {
    expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
    expect(await output(id)).toMatch(/\d upgraded, 0 newly installed/)
  }
  expect(starts(demo)).toHaveLength(25)
})

test('an unknown kind of job is refused, and nothing is recorded', async () => {
  const demo = await startDemo()
  const { jobs, db } = await service(demo)

  await expect(jobs.start({ kind: 'other', args: {}, target: 'host', startedBy: 1 })).rejects.toThrow('other')

  expect(await db.query(z.unknown(), 'SELECT id FROM jobs')).toEqual([])
})

test('the password of the service is in no command line and in no log line', async () => {
  const users = { panel: { password: 'pw-of-panel', uid: 1400, groups: ['panel'], sudo: 'password' as const } }
  const demo = await startDemo({ users })
  const { jobs, start, ended, output, lines } = await service(demo)

  const id = await start(jobs, 'lxc:101')

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await output(id)).toContain('5 upgraded')
  expect(JSON.stringify(demo.commands)).not.toContain('pw-of-panel')
  expect(await output(id)).not.toContain('pw-of-panel')
  expect(lines().join('')).not.toContain('pw-of-panel')
})

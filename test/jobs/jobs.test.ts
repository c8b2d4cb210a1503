import { expect, test } from 'vitest'
import * as z from 'zod'
import { findJob, jobsWithFolder } from '../../db/jobs.ts'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import { CLEAN } from '../../jobs/script.ts'
import { NOW } from '../db/database.ts'
import { recordJob } from '../db/job.ts'
import { startDemo } from '../runtime/demo.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'
import { jobService, listen, starts } from './job-service.ts'

test('the output of the host is stored byte for byte, with U+FFFD in the place of invalid UTF-8', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, start, ended, output: stored, hub } = await jobService(demo)
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

test('an id consists of the second of the start and eight random characters', async () => {
  const demo = await startDemo()
  const { jobs, start } = await jobService(demo)

  const ids = await Promise.all(Array.from({ length: 20 }, (_, at) => start(jobs, 'nonsense', `user${at >> 1}`)))

  for (const id of ids) expect(id).toMatch(new RegExp(`^${Date.parse(NOW) / 1000}-[a-z0-9]{8}$`))
  expect(new Set(ids).size).toBe(20)
})

test('the exit code of the command is stored and does not decide the status', async () => {
  const demo = await startDemo()
  const { jobs, start, ended } = await jobService(demo)

  expect(await ended(await start(jobs, 'lxc:103'))).toMatchObject({ status: 'success', exit_code: 255, error: null })
})

test('the host notes the result of each container of an upgrade of all, whatever a container prints', async () => {
  const demo = await startDemo()
  const { jobs, start, ended, row } = await jobService(demo)
  demo.upgradeOutput = async function* (place) {
    yield `SKIP LXC ${place === '101' ? 102 : 101}\n=== LXC 103 ===\nops-panel note 101 failed 1\n101 failed 1\n`
  }
  demo.override = (words, { place }) => (words[0] === 'sh' && place.id === '102' ? Promise.resolve(100) : undefined)

  const id = await start(jobs, 'all')
  await expect.poll(async () => (await row(id)).launched).toBe(true)

  expect((await ended(id)).parts).toEqual([
    { id: '101', name: 'web', state: 'done', code: 0 },
    { id: '102', name: 'db', state: 'failed', code: 100 },
    { id: '103', name: 'old-backup', state: 'stopped', code: 255 },
  ])
})

test('parts that a cancelled job did not reach stay waiting, and finished parts are done', async () => {
  const demo = await startDemo()
  const { jobs, start, ended, output } = await jobService(demo)
  demo.upgradeOutput = async function* (place) {
    yield `${place}\n`
    if (place === '102') await new Promise(() => {})
  }
  const id = await start(jobs, 'all')
  await expect.poll(() => output(id)).toContain('102\n')

  await jobs.cancel(id, 'bob')

  const { error_code, parts } = await ended(id)
  expect(error_code).toBe('cancelled')
  expect(parts?.map(({ state }) => state)).toEqual(['done', expect.stringMatching(/^(failed|waiting)$/), 'waiting'])
})

test('a job of a kind that no instance knows ends with job_kind_missing after a while, and blocks no other', async () => {
  const demo = await startDemo()
  let now = 0
  const { jobs, again, db, start, row, ended } = await jobService(demo)
  controlledOutput(demo)
  const id = await start(jobs, 'lxc:101')
  await jobs.stop()
  await db.run(`UPDATE jobs SET kind = 'gone' WHERE id = ?`, [id])
  const { jobs: next } = again({ elapsed: () => now })
  demo.upgradeOutput = async function* () {
    yield 'un\n'
  }
  const other = await start(next, 'lxc:101')

  await next.maintain()
  now += 29_000
  await next.maintain()
  expect(await row(id)).toMatchObject({ status: 'running' })
  now += 1_000
  await next.maintain()

  expect(await row(id)).toMatchObject({
    status: 'error',
    error: expect.stringContaining('ne connaît plus ce type de tâche (gone)'),
    error_code: 'job_kind_missing',
    finished_at: NOW,
  })
  expect(await ended(other)).toMatchObject({ status: 'success', error: null })
})

test('the folder of a job is removed after its end, and nothing else is left to remove', async () => {
  const demo = await startDemo()
  const { jobs, db, start, ended } = await jobService(demo)

  const id = await start(jobs, 'lxc:101')
  const { folder } = await ended(id)

  await expect.poll(() => demo.commands.at(-1)?.join(' ')).toMatch(new RegExp(`rm -rf[\\s\\S]*${folder}$`))
  await expect.poll(() => jobsWithFolder(db, { since: '', most: 10 })).toEqual([])
})

test('a job of version 0.1 is started, followed and cleaned by its id, the name of its folder', async () => {
  const demo = await startDemo()
  const printed = controlledOutput(demo)
  const { jobs, db, ended, output, expireLeases } = await jobService(demo)
  const id = '1700000000-aaaaaaaa'
  printed.print('one line\n')
  printed.end()
  await recordJob(db, id, { args: '{"target":"lxc:101"}' })
  await expireLeases()

  await jobs.maintain()

  expect(await ended(id)).toMatchObject({ folder: null, status: 'success' })
  expect(await output(id)).toBe('one line\n')
  const named = () => demo.commands.filter((words) => words[3] === 'ops-panel-job')
  await expect.poll(() => named().at(-1)?.[2]).toBe(CLEAN)
  for (const words of named()) expect(words.slice(4, 6)).toContain(id)
})

test('an unreachable host ends the job at once', async () => {
  const demo = await startDemo()
  const { jobs, start, ended, output } = await jobService(demo)
  demo.accepting = false

  const id = await start(jobs, 'lxc:101')

  expect(await ended(id)).toMatchObject({
    status: 'error',
    error: expect.stringMatching(/^Erreur SSH : ./),
    exit_code: null,
  })
  expect(await output(id)).toBe('')
})

test('a wrong service password ends the job with an error', async () => {
  const demo = await startDemo()
  const { jobs, start, ended } = await jobService(demo, { ssh: { password: 'wrong' } })

  expect(await ended(await start(jobs, 'host'))).toMatchObject({
    status: 'error',
    error: expect.stringMatching(/^Erreur SSH : ./),
  })
  expect(demo.commands).toEqual([])
})

test('an invalid target ends the job without an event, and the host is not touched', async () => {
  const demo = await startDemo()
  const { jobs, hub, start, ended } = await jobService(demo)

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

test('a restarted service continues a running job at the stored byte: each byte once, started once', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, again, start, ended, output: stored, db } = await jobService(demo)
  const id = await start(jobs, 'lxc:101')
  output.print('avant é, ')
  output.print(Buffer.from([0xe2, 0x82]))
  await expect.poll(() => stored(id)).toBe('avant é, ')

  await jobs.stop()
  expect(await findJob(db, id)).toMatchObject({ status: 'running', error: null })
  output.print(Buffer.concat([Buffer.from([0xac]), Buffer.from(' pendant, ')]))
  const next = again()
  const { events } = listen(next.hub, id)
  await next.jobs.maintain()
  await expect.poll(() => stored(id)).toBe('avant é, € pendant, ')
  output.print('après')
  output.end()

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await stored(id)).toBe('avant é, € pendant, après')
  expect(starts(demo)).toHaveLength(1)
  expect(events.at(-1)).toMatchObject({ type: 'update_done' })
})

test('a job that ended while the service was down gets its end and all of its output', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, again, start, ended, output: stored } = await jobService(demo)
  const id = await start(jobs, 'lxc:101')
  output.print('avant, ')
  await expect.poll(() => stored(id)).toBe('avant, ')
  await jobs.stop()
  output.print('sans témoin')
  output.end()

  await again().jobs.maintain()

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await stored(id)).toBe('avant, sans témoin')
})

test('a job that a reboot of the host ended gets an error, and keeps its output', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const { jobs, again, start, ended, output: stored } = await jobService(demo)
  const id = await start(jobs, 'lxc:101')
  output.print('avant')
  await expect.poll(() => stored(id)).toBe('avant')
  await jobs.stop()

  demo.reboot()
  await again().jobs.maintain()

  expect(await ended(id)).toMatchObject({
    status: 'error',
    error: expect.stringMatching(/^Erreur SSH : l’hôte a redémarré/),
  })
  expect(await stored(id)).toBe('avant')
})

test('an ended job is not taken over', async () => {
  const demo = await startDemo()
  const { jobs, again, start, ended } = await jobService(demo)
  await ended(await start(jobs, 'lxc:101'))
  await expect.poll(() => demo.commands.at(-1)?.join(' ')).toContain('rm -rf')
  const before = demo.commands.length

  await again().jobs.maintain()

  expect(demo.commands).toHaveLength(before)
})

test('a database that fails for a while loses and repeats no byte', async () => {
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
  const { jobs, start, ended, output: stored } = await jobService(demo, { wrap })
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

test.each([
  ['before the answer', 0],
  ['late', 1],
])('a job that was stored although its start failed (%s) never runs, and its record says why', async (_, late) => {
  const demo = await startDemo()
  const unread: (() => Promise<unknown>)[] = []
  let failing = true
  const wrap = (db: Database): Database => ({
    ...db,
    async batch(statements) {
      if (!failing) return db.batch(statements)
      failing = false
      if (late) unread.push(() => db.batch(statements))
      else await db.batch(statements)
      throw new StorageError('no answer')
    },
  })
  const { jobs, again, start, db, expireLeases } = await jobService(demo, { wrap })
  const before = demo.commands.length

  await expect(start(jobs, 'lxc:101')).rejects.toThrow('no answer')
  await jobs.maintain()
  for (const read of unread) await read()
  await jobs.maintain()
  await expireLeases()
  await again().jobs.maintain()

  const rows = await db.query(z.unknown(), 'SELECT status, launched, error, error_code FROM jobs')
  expect(rows).toEqual([
    { status: 'error', launched: 0, error: 'La base de données ne répond pas.', error_code: 'storage_failed' },
  ])
  expect(demo.commands).toHaveLength(before)
  expect(await start(jobs, 'lxc:101')).toMatch(/^\d+-/)
})

test('output that a failing database delayed is stored soon, even if the job prints nothing more', async () => {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  let failing = false
  const wrap = (db: Database): Database => ({
    ...db,
    batch: (statements) => (failing ? Promise.reject(new StorageError('disk full')) : db.batch(statements)),
  })
  const { jobs, start, ended, output: stored, lines } = await jobService(demo, { wrap })
  const id = await start(jobs, 'lxc:101')
  output.print('avant, ')
  await expect.poll(() => stored(id)).toBe('avant, ')

  failing = true
  output.print('perdu un instant')
  await expect.poll(() => lines().some((line) => line.includes('the database failed'))).toBe(true)
  failing = false

  await expect.poll(() => stored(id), { timeout: 3_000 }).toBe('avant, perdu un instant')
  output.end()
  expect(await ended(id)).toMatchObject({ status: 'success' })
})

test('twenty-five jobs run at the same time to their end', async () => {
  const demo = await startDemo({ lineMs: 1 })
  const { jobs, start, ended, output } = await jobService(demo)

  const ids = await Promise.all(
    Array.from({ length: 25 }, (_, at) => start(jobs, at % 2 ? 'lxc:101' : 'lxc:102', `user${at % 5}`)),
  )

  for (const id of ids) {
    expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
    expect(await output(id)).toMatch(/\d upgraded, 0 newly installed/)
  }
  expect(starts(demo)).toHaveLength(25)
})

test('a start of an unknown kind is refused, and nothing is recorded', async () => {
  const demo = await startDemo()
  const { jobs, db } = await jobService(demo)

  await expect(jobs.start({ kind: 'other', args: {}, target: 'host', startedBy: 1 })).rejects.toThrow('other')

  expect(await db.query(z.unknown(), 'SELECT id FROM jobs')).toEqual([])
})

test('the password of the service account is in no command line and in no log line', async () => {
  const users = { panel: { password: 'pw-of-panel', uid: 1400, groups: ['panel'], sudo: 'password' as const } }
  const demo = await startDemo({ users })
  const { jobs, start, ended, output, lines } = await jobService(demo)

  const id = await start(jobs, 'lxc:101')

  expect(await ended(id)).toMatchObject({ status: 'success', exit_code: 0 })
  expect(await output(id)).toContain('5 upgraded')
  expect(JSON.stringify(demo.commands)).not.toContain('pw-of-panel')
  expect(await output(id)).not.toContain('pw-of-panel')
  expect(lines().join('')).not.toContain('pw-of-panel')
})

test('a failure that the caller or the host caused is one line in the log, without a stack', async () => {
  const demo = await startDemo()
  const { jobs, start, ended, lines } = await jobService(demo)
  const id = await start(jobs, 'nulle part')
  await ended(id)

  const logged = lines().filter((line) => line.includes('job failed'))
  expect(logged).toHaveLength(1)
  expect(JSON.parse(logged[0] ?? '')).toMatchObject({
    job: id,
    code: 'target_invalid',
    reason: 'Cible invalide : nulle part',
  })
  expect(logged[0]).not.toContain('stack')
})

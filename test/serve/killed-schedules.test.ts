import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { startDemoHost } from '../../demo/host.ts'
import { openDatabase } from '../../db/libsql/client.ts'
import type { Database } from '../../db/libsql/database.ts'
import { RunProgress } from '../../schedules/schedules.ts'
import { turnChecksOff, turnProtectionOff } from '../checks-off.ts'
import { type OnTestFinished, temporaryFolder } from '../db/folder.ts'
import { startLibsqlServer } from '../libsql-server.ts'
import { createRandom } from '../soak/random.ts'
import { STARTING_FAST } from './program.ts'

const PROGRAM = fileURLToPath(new URL('hurried-process.ts', import.meta.url))
/** A time of the schedule each ten seconds. */
const SPEED = 6
const MINUTE = 60_000
const SEED = Number(process.env.TEST_SEED ?? 20_261_126)
const KILLS = 20

const Token = z.looseObject({ access_token: z.string() })
const Row = z.object({
  id: z.string(),
  due_ms: z.number(),
  state: z.string(),
  reason: z.string().nullable(),
  missed: z.number(),
  waves: z.string().transform((text) => RunProgress.parse(JSON.parse(text)).waves),
})
const Schedule = z.object({ handled_ms: z.number(), created_at: z.string() })
const Job = z.object({
  id: z.string(),
  target: z.string(),
  status: z.string(),
  launched: z.number(),
  outcome: z.string().nullable(),
  schedule_run_id: z.string().nullable(),
})
const Count = z.object({ n: z.number() })

/** A schedule that upgrades two containers each minute, one after the other, and the processes that carry it out. */
async function world(onFinished: OnTestFinished, database = '', more: Record<string, string> = {}) {
  const folder = await temporaryFolder(onFinished)
  const demo = await startDemoHost({ lineMs: 0 })
  onFinished(() => demo.close())
  const upgrades: string[] = []
  // The lists stay as they are, so that there is something to upgrade each time.
  demo.upgradeOutput = async function* (place) {
    upgrades.push(place)
    yield 'some packages\n'
  }
  const url = database === '' ? `file:${folder}/panel.db` : database
  const env = {
    PATH: process.env.PATH ?? '',
    ...STARTING_FAST,
    PANEL_PORT: '0',
    PANEL_DATA_DIR: folder,
    PANEL_DATABASE_URL: url,
    PANEL_DEPLOYER: 'none',
    PANEL_LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'silent',
    PANEL_SSH_HOST: `127.0.0.1:${demo.port}`,
    PANEL_SSH_USERNAME: demo.service.username,
    PANEL_SSH_PASSWORD: demo.service.password,
    PANEL_SSH_HOST_KEY: demo.hostKey,
    HURRIED_FROM: String(Date.now()),
    HURRIED_SPEED: String(SPEED),
    ...more,
  }
  const children = new Set<ChildProcess>()
  onFinished(async () => {
    for (const child of children) await kill(child)
  })
  const start = async () => {
    const child = fork(PROGRAM, { env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
    children.add(child)
    let said = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    const ready = async () => {
      await vi.waitUntil(() => said.includes('ready http'), { timeout: 60_000, interval: 20 })
      return /ready (\S+)/.exec(said)?.[1] ?? ''
    }
    return { child, ready }
  }
  const kill = async (child: ChildProcess) => {
    children.delete(child)
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  await turnChecksOff(url)
  await turnProtectionOff(url)
  const db = await openDatabase(url)
  onFinished(async () => db.close())
  return {
    demo,
    upgrades,
    start,
    kill,
    db,
    hurried: () => Number(env.HURRIED_FROM) + (Date.now() - Number(env.HURRIED_FROM)) * SPEED,
  }
}

/** Makes the schedule as an administrator does. */
async function schedule(url: string): Promise<void> {
  const send = async (path: string, body: object, headers = {}) => {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    expect({ status: answer.status, text: answer.ok ? '' : await answer.clone().text() }).toMatchObject({ text: '' })
    return answer.json()
  }
  const { access_token } = Token.parse(await send('/api/auth/login', { username: 'demo', password: 'demo' }))
  const wave = (target: string) => ({ targets: [target], pause_minutes: 0 })
  await send(
    '/api/schedules',
    {
      name: 'Minute',
      cron: '* * * * *',
      timezone: 'UTC',
      window_minutes: 5,
      action: 'upgrade',
      waves: [wave('lxc:101'), wave('lxc:102')],
    },
    { authorization: `Bearer ${access_token}` },
  )
}

/** Lets no more times come, and waits until everything has ended. */
async function settle(db: Database): Promise<void> {
  await db.run('UPDATE schedules SET enabled = 0, revision = revision + 1')
  const open = `SELECT (SELECT count(*) FROM schedule_runs WHERE state = 'running') + (SELECT count(*) FROM jobs WHERE status = 'running') AS n`
  const isOver = async () => (await db.query(Count, open)).every(({ n }) => n === 0)
  await vi.waitUntil(isOver, { timeout: 120_000, interval: 200 })
}

/** Checks that each time has come to one run at most, that none is lost, and that nothing was upgraded twice. */
async function checkAll(db: Database, upgrades: readonly string[], least: number): Promise<void> {
  const rows = await db.query(Row, 'SELECT id, due_ms, state, reason, missed, waves FROM schedule_runs ORDER BY due_ms')
  const [of] = await db.query(Schedule, 'SELECT handled_ms, created_at FROM schedules')
  const jobs = await db.query(
    Job,
    `SELECT jobs.id, target, status, launched, outcome, schedule_run_id FROM jobs LEFT JOIN runs ON runs.id = jobs.run_id WHERE kind = 'upgrade'`,
  )
  if (!of) throw new Error('there is no schedule')
  const runs = rows.filter(({ state }) => state !== 'missed')
  const missed = rows.reduce((sum, row) => sum + row.missed, 0)
  const slots = Math.floor(of.handled_ms / MINUTE) - Math.floor(Date.parse(of.created_at) / MINUTE)
  const ends = runs.map(({ state, reason }) => (reason === null ? state : `${state} ${reason}`)).join(', ')
  const about = `seed ${SEED}: ${slots} times, ${runs.length} runs (${ends}), ${missed} missed, ${jobs.length} jobs, ${upgrades.length} upgrades`
  console.info(about)

  expect(new Set(runs.map(({ due_ms }) => due_ms)).size, about).toBe(runs.length)
  expect(runs.length + missed, about).toBe(slots)
  expect(runs.filter(({ state }) => state === 'done').length, about).toBeGreaterThanOrEqual(least)
  const done = jobs.map(({ schedule_run_id, target }) => `${schedule_run_id} ${target}`)
  expect(new Set(done).size, about).toBe(done.length)
  // The host has begun each job that was launched once, and no other.
  const begun = (place: string) => upgrades.filter((each) => each === place).length
  const launched = (target: string) => jobs.filter((job) => job.target === target && job.launched === 1).length
  expect([begun('101'), begun('102')], about).toEqual([launched('lxc:101'), launched('lxc:102')])
  for (const run of runs.filter(({ state }) => state === 'done'))
    expect(
      run.waves.flatMap((wave) => wave.jobs.map(({ outcome }) => outcome)),
      `${about}, run ${run.id}`,
    ).toEqual(['upgraded', 'upgraded'])
}

describe.concurrent.each([1, 2])('with %i instances', (instances) => {
  test(`${KILLS} kills before, in and after the times of a schedule lose no time and upgrade nothing twice`, {
    timeout: 280_000,
  }, async ({ onTestFinished }) => {
    const random = createRandom(SEED + instances)
    const { upgrades, start, kill, db } = await world(onTestFinished)
    const first = await start()
    await schedule(await first.ready())
    const running = [first.child]
    while (running.length < instances) running.push((await start()).child)

    for (let n = 0; n < KILLS; n += 1) {
      await pause(random.between(500, 10_000))
      const [victim] = running.splice(random.between(0, running.length - 1), 1)
      if (victim) await kill(victim)
      if (random.chance(0.3)) await pause(random.between(0, 6_000))
      running.push((await start()).child)
    }
    await pause(10_000)
    // On a busy machine, a service needs longer than that for its start and a run.
    const done = `SELECT count(*) AS n FROM schedule_runs WHERE state = 'done'`
    const isOneDone = async () => (await db.query(Count, done)).some(({ n }) => n > 0)
    await vi.waitUntil(isOneDone, { timeout: 60_000, interval: 200 })

    await settle(db)
    await checkAll(db, upgrades, 1)
  })
})

test.concurrent('a database that is away for five minutes loses no time, and those it missed are told', {
  timeout: 240_000,
}, async ({ onTestFinished }) => {
  const server = await startLibsqlServer()
  onTestFinished(server.stop)
  const { upgrades, start, db, hurried } = await world(onTestFinished, server.url, {
    PANEL_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  })
  const first = await start()
  await schedule(await first.ready())
  const second = await start()
  await second.ready()
  await pause(10_000)

  const since = hurried()
  await server.kill()
  await pause((5 * MINUTE) / SPEED)
  await server.start()
  const until = hurried()
  await db.reconnect()
  await pause(20_000)

  await settle(db)
  // The window of the run that was under way closes meanwhile.
  await checkAll(db, upgrades, 1)
  const told = await db.query(
    Row,
    `SELECT id, due_ms, state, reason, missed, waves FROM schedule_runs WHERE state = 'missed' AND due_ms BETWEEN ${since} AND ${until + 2 * MINUTE}
       AND EXISTS (SELECT 1 FROM notification_events WHERE key = 'schedule_missed:' || schedule_runs.id)`,
  )
  expect(told.reduce((sum, { missed }) => sum + missed, 0)).toBeGreaterThanOrEqual(3)
})

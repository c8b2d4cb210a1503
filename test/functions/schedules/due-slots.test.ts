import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../db/libsql/client.ts'
import type { Database } from '../../../db/libsql/database.ts'
import { migrate } from '../../../db/migrate.ts'
import { dueSchedules } from '../../../db/schedules/slots.ts'
import { saveUser } from '../../../db/users.ts'
import { takeDueSlots } from '../../../functions/schedules/due-slots.ts'
import { createLog } from '../../../platform/log.ts'
import { countTimes, nextTimes, timetable } from '../../../schedules/schedules.ts'
import { temporaryFolder } from '../../db/folder.ts'
import { rounds, seedOf } from '../../rounds.ts'
import { rows } from '../answers.ts'
import { finish, NIGHTLY, scheduleApp, story } from './schedule-app.ts'

const SEED = seedOf('test/functions/schedules/due-slots.test.ts')
const MINUTE = 60_000

const events = (db: Database) => rows(db, 'SELECT event, key, details FROM notification_events ORDER BY id')

test('a run begins when its time comes, once, with the waves of the schedule', async () => {
  const app = await scheduleApp()
  const id = await app.post()
  app.at('2026-03-02T02:59:59Z')
  await app.tick()
  expect(await story(app.db)).toEqual([])

  app.at('2026-03-02T03:00:00Z')
  for (let n = 0; n < 3; n++) await app.tick()

  expect(await story(app.db)).toEqual(['03-02T03:00 running'])
  const { runs } = await app.get(`/api/schedules/${id}/runs`)
  expect(runs).toEqual([
    expect.objectContaining({
      due_at: '2026-03-02T03:00:00.000Z',
      closes_at: '2026-03-02T04:00:00.000Z',
      started_at: '2026-03-02T03:00:00.000Z',
      started_by: null,
      state: 'running',
      reboot: null,
      waves: [
        {
          targets: ['lxc:101'],
          pause_minutes: 0,
          state: 'waiting',
          run_id: null,
          started_at: null,
          finished_at: null,
          jobs: [],
        },
        expect.objectContaining({ targets: 'rest', state: 'waiting' }),
      ],
    }),
  ])
  expect(await events(app.db)).toEqual([])
})

test('after an absence the newest time runs if its window is open, and one entry counts the others', async () => {
  const app = await scheduleApp()
  const id = await app.post()

  app.at('2026-03-05T03:59:59Z')
  await app.tick()

  expect(await story(app.db)).toEqual(['03-04T03:00 missed service_away 3', '03-05T03:00 running'])
  const [event, ...more] = await events(app.db)
  expect(more).toEqual([])
  expect(event).toMatchObject({ event: 'schedule_missed' })
  expect(JSON.parse(String(event?.details))).toEqual({
    ...{
      schedule: id,
      name: 'Nuit',
      timezone: 'UTC',
      count: 3,
      reason: 'service_away',
      due_at: '2026-03-04T03:00:00.000Z',
    },
    run: expect.stringMatching(/^[0-9a-f]{24}$/),
  })
})

test('after an absence beyond the window nothing runs, and one entry counts all times', async () => {
  const app = await scheduleApp()
  await app.post()

  app.at('2026-03-05T04:00:00Z')
  await app.tick()

  expect(await story(app.db)).toEqual(['03-05T03:00 missed service_away 4'])
  expect(await events(app.db)).toHaveLength(1)
})

test('a time that comes while the former run works is missed, and the next one runs', async () => {
  const app = await scheduleApp()
  await app.post({ cron: '*/30 * * * *' })
  app.at('2026-03-01T12:30:00Z')
  await app.tick()

  app.at('2026-03-01T13:00:01Z')
  await app.tick()
  await finish(app.db)
  app.at('2026-03-01T13:30:01Z')
  await app.tick()

  expect(await story(app.db)).toEqual(['03-01T12:30 done', '03-01T13:00 missed former_run 1', '03-01T13:30 running'])
  expect(await events(app.db)).toHaveLength(1)
})

test('while all schedules are paused each time is missed without an event, and is not run afterwards', async () => {
  const app = await scheduleApp()
  await app.post()
  await app.request('PUT', '/api/schedules', { as: 'admin', body: { paused: true } })
  app.at('2026-03-02T03:00:01Z')
  await app.tick()

  await app.request('PUT', '/api/schedules', { as: 'admin', body: { paused: false } })
  await app.tick()
  app.at('2026-03-03T03:00:01Z')
  await app.tick()

  expect(await story(app.db)).toEqual(['03-02T03:00 missed all_paused 1', '03-03T03:00 running'])
  expect(await events(app.db)).toEqual([])
})

test('a disabled schedule does nothing, and nothing of that time when it is enabled again', async () => {
  const app = await scheduleApp()
  const id = await app.post()
  await app.request('PATCH', `/api/schedules/${id}`, { as: 'admin', body: { enabled: false } })
  app.at('2026-03-02T03:00:01Z')
  await app.tick()

  await app.request('PATCH', `/api/schedules/${id}`, { as: 'admin', body: { enabled: true } })
  await app.tick()

  expect(await story(app.db)).toEqual([])
})

test('200 schedules that are due at once begin in one tick, and a broken one holds up none', async () => {
  const app = await scheduleApp()
  for (let n = 0; n < 200; n++) await app.post({ name: `Nuit ${n}` })
  await app.db.run(`UPDATE schedules SET timezone = 'Mars/Olympus' WHERE name = 'Nuit 7'`)
  app.at('2026-03-02T03:00:00Z')

  await app.tick()

  expect(await rows(app.db, 'SELECT state, count(*) AS n FROM schedule_runs GROUP BY state')).toEqual([
    { state: 'running', n: 199 },
  ])
  expect(app.lines().filter((line) => line.includes('the times of a schedule could not be taken'))).toHaveLength(1)
})

test('a database that is away for five minutes loses no time', async () => {
  const app = await scheduleApp()
  await app.post({ cron: '*/2 * * * *' })
  const away: Database = { ...app.db, query: async () => Promise.reject(new Error('away')) }
  for (let second = 0; second <= 300; second += 10) {
    app.at(new Date(Date.UTC(2026, 2, 1, 12, 1, second)).toISOString())
    await expect(takeDueSlots({ ...app.services, db: away })).rejects.toThrow('away')
  }
  expect(await story(app.db)).toEqual([])

  await app.tick()

  expect(await story(app.db)).toEqual(['03-01T12:04 missed service_away 2', '03-01T12:06 running'])
})

// --- Clocks.

test.each([
  ['a day forward', '2026-03-03T03:30:30Z', ['03-02T03:00 done', '03-03T03:00 running']],
  ['a day and some hours forward', '2026-03-03T15:00:00Z', ['03-02T03:00 done', '03-03T03:00 missed service_away 1']],
  [
    'a year forward',
    '2027-03-02T03:30:00Z',
    ['03-02T03:00 done', '03-01T03:00 missed service_away 300', '03-02T03:00 running'],
  ],
])('a clock that jumps %s', async (_, to, expected) => {
  const app = await scheduleApp()
  await app.post()
  app.at('2026-03-02T03:00:00Z')
  await app.tick()
  await finish(app.db)

  app.at(to)
  await app.tick()
  await app.tick()

  expect(await story(app.db)).toEqual(expected)
})

test.each([
  ['a day', '2026-03-02T02:00:00Z', '2026-03-02T03:00:00Z'],
  ['a year', '2025-03-03T02:00:00Z', '2025-03-03T03:00:00Z'],
])(
  'a clock that is set back by %s runs no time twice that has a run, and others as they come',
  async (_, back, again) => {
    const app = await scheduleApp()
    await app.post()
    for (const day of ['02', '03']) {
      app.at(`2026-03-${day}T03:00:00Z`)
      await app.tick()
      await finish(app.db)
    }
    const before = await story(app.db)

    app.at(back)
    await app.tick()
    expect(await story(app.db)).toEqual(before)
    app.at(again)
    await app.tick()
    const isNew = again.startsWith('2025')
    expect((await story(app.db)).length).toBe(before.length + (isNew ? 1 : 0))

    // It goes on, instead of waiting until the former time is reached.
    await finish(app.db)
    app.at(again.replace('03-03', '03-04').replace('03-02', '03-04'))
    await app.tick()
    expect((await story(app.db)).filter((line) => line.endsWith('running'))).toEqual(['03-04T03:00 running'])
  },
)

test('instances whose clocks differ by seconds take each time once', async () => {
  const app = await scheduleApp()
  await app.post({ cron: '*/5 * * * *' })
  const fast = { ...app.services, clock: () => new Date(app.services.clock().getTime() + 5_000) }

  for (let second = 0; second < 1_200; second += 7) {
    app.at(new Date(Date.UTC(2026, 2, 1, 12) + second * 1_000).toISOString())
    await takeDueSlots(fast)
    await takeDueSlots(app.services)
    await finish(app.db)
  }

  expect(await story(app.db)).toEqual(['05', '10', '15', '20'].map((minute) => `03-01T12:${minute} done`))
})

const NIGHTS = [
  ['Europe/Paris', '2026-03-28', 3, ['30 2 * * *', '0 3 * * *', '0,30 2 * * *', '*/30 2 * * *', '17 * * * *']],
  ['Europe/Paris', '2026-10-24', 3, ['30 2 * * *', '0 3 * * *', '0,30 2 * * *', '*/30 2 * * *', '17 * * * *']],
  ['America/Sao_Paulo', '2018-11-03', 3, ['0 0 * * *', '30 0 * * *', '17 * * * *']],
  ['America/Sao_Paulo', '2018-02-17', 3, ['30 23 * * *', '0 0 * * *']],
  ['Australia/Lord_Howe', '2026-10-03', 3, ['15 2 * * *', '0 2 * * *', '*/30 * * * *']],
  ['Australia/Lord_Howe', '2026-04-04', 3, ['45 1 * * *', '0 2 * * *', '*/30 * * * *']],
  ['America/Nuuk', '2026-03-28', 3, ['30 23 * * *', '0 0 * * *']],
] as const

test.each(NIGHTS.flatMap((night) => [1, 7].map((step) => [...night, step] as const)))(
  'in %s from %s on (%i days) each time of %j runs once, at ticks of %i minutes',
  async (zone, from, days, patterns, step) => {
    const app = await scheduleApp()
    const [start, end] = [Date.parse(`${from}T00:00:00Z`), Date.parse(`${from}T00:00:00Z`) + days * 86_400_000]
    app.at(new Date(start).toISOString())
    for (const cron of patterns) await app.post({ name: cron, cron, timezone: zone })

    for (let at = start; at <= end; at += step * MINUTE) {
      app.at(new Date(at).toISOString())
      await app.tick()
      await finish(app.db)
    }

    for (const cron of patterns) {
      const found = await rows(
        app.db,
        `SELECT due_at FROM schedule_runs r JOIN schedules s ON s.id = schedule_id WHERE name = '${cron}' AND state = 'done' ORDER BY due_ms`,
      )
      const expected = nextTimes(timetable(cron, zone), start, 500).filter(
        (at) => at <= end - ((end - start) % (step * MINUTE)),
      )
      expect({ cron, due: found.map(({ due_at }) => due_at) }).toEqual({
        cron,
        due: expected.map((at) => new Date(at).toISOString()),
      })
      // A fixed time once a day of the wall clock, also in that night.
      if (/^\d+ \d+ /.test(cron)) expect(found.length === days || found.length === days + 1).toBe(true)
    }
    expect(await rows(app.db, `SELECT id FROM schedule_runs WHERE state = 'missed'`)).toEqual([])
  },
)

// --- Two instances that are killed at any moment.

/** The number of times from one moment to another. */
function timesUntil(cron: string, after: number, upTo: number): number {
  return countTimes(timetable(cron, 'Europe/Paris'), { after, upTo, most: 100_000 })
}

/** A connection that dies before or after some of its transactions. */
function dying(db: Database, dies: () => 'before' | 'after' | 'not'): Database {
  return {
    ...db,
    async batch(statements) {
      const death = dies()
      if (death === 'before') throw new Error('killed before')
      const changed = await db.batch(statements)
      if (death === 'after') throw new Error('killed after')
      return changed
    },
  }
}

test('instances that die around their transactions, and absences: every time has one run or is counted as missed', async () => {
  const step = fc.record({
    minutes: fc.oneof(
      { arbitrary: fc.integer({ min: 0, max: 9 }), weight: 5 },
      { arbitrary: fc.integer({ min: 10, max: 400 }), weight: 1 },
    ),
    deaths: fc.array(fc.constantFrom('before', 'after', 'not', 'not'), { minLength: 2, maxLength: 2 }),
    ends: fc.boolean(),
  })
  const { log } = createLog({ level: 'silent', write: () => {} })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 40 }),
      fc.constantFrom('*/10 * * * *', '7 * * * *', '*/3 * * * *'),
      async (steps, cron) => {
        const folder = await temporaryFolder()
        const url = `file:${join(folder, 'panel.db')}`
        const [one, two] = [await openDatabase(url), await openDatabase(url)]
        try {
          let now = Date.UTC(2026, 2, 1, 12)
          const start = now
          await migrate(one, new Date(now))
          const { id } = await saveUser(one, 'alice', true, 'now')
          const settings = JSON.stringify({
            ...{
              window_minutes: 30,
              action: 'check',
              only: 'all',
              waves: NIGHTLY.waves.map((wave) => ({ pause_minutes: 0, ...wave })),
            },
            ...{ on_failure: 'stop', reboot: 'never' },
          })
          const next = timetable(cron, 'Europe/Paris').next(now) ?? 0
          await one.run(
            `INSERT INTO schedules (id, name, enabled, cron, timezone, settings, created_by, created_at, changed_at, handled_ms, next_ms)
             VALUES ('s', 's', 1, ?, 'Europe/Paris', ?, ?, '', '', ?, ?)`,
            [cron, settings, id, now, next],
          )
          const clock = () => new Date(now)
          for (const { minutes, deaths, ends } of steps) {
            now += minutes * MINUTE
            const instances = [one, two].map((db, at) => dying(db, () => deaths[at] ?? 'not'))
            await Promise.all(instances.map((db) => takeDueSlots({ db, clock, log })))
            if (ends) await finish(two)
          }
          await takeDueSlots({ db: one, clock, log })
          const slots = timesUntil(cron, start, now)
          const [told] = await rows(
            one,
            `SELECT coalesce(sum(iif(state = 'missed', missed, 1)), 0) AS n, count(DISTINCT iif(state = 'missed', NULL, due_ms)) AS runs,
               sum(state <> 'missed') AS begun, sum(state = 'missed') AS entries FROM schedule_runs`,
          )
          const [{ n: noted } = { n: 0 }] = await rows(one, 'SELECT count(*) AS n FROM notification_events')
          expect(told?.n).toBe(slots)
          expect(told?.runs).toBe(told?.begun ?? 0)
          expect(noted).toBe(told?.entries ?? 0)
        } finally {
          await Promise.all([one.close(), two.close()])
        }
      },
    ),
    { numRuns: rounds(25, 500), seed: SEED },
  )
}, 120_000)

test('the newest 200 runs of a schedule are kept', async () => {
  const app = await scheduleApp()
  await app.post({ cron: '* * * * *' })
  for (let minute = 1; minute <= 210; minute++) {
    app.at(new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString())
    await app.tick()
    await finish(app.db)
  }

  const [count] = await rows(app.db, 'SELECT count(*) AS n, min(due_at) AS oldest FROM schedule_runs')
  expect(count?.n).toBeLessThanOrEqual(201)
  expect(count?.n).toBeGreaterThanOrEqual(200)
})

test('the search for due schedules reads no schedule that is not due', async () => {
  const { db } = await scheduleApp()
  const asked: string[] = []
  const query: Database['query'] = (row, sql, args) => {
    asked.push(sql)
    return db.query(row, sql, args)
  }
  const watching: Database = { ...db, query }
  await dueSchedules(watching, { now: 1, ahead: 2 })

  const plan = await rows(db, `EXPLAIN QUERY PLAN ${asked[0]}`)
  const text = plan.map(({ detail }) => String(detail)).join('\n')
  expect(text).toContain('schedules_due')
  expect(text).toContain('schedules_ahead')
  expect(text).not.toMatch(/SCAN (schedules|schedule_runs)\b/)
})

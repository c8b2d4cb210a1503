import * as z from 'zod'
import { expect, onTestFinished, test } from 'vitest'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import channelsRead from '../../functions/notifications/channels.get.ts'
import addChannel from '../../functions/notifications/channels.post.ts'
import changeChannel from '../../functions/notifications/channel.patch.ts'
import removeChannel from '../../functions/notifications/channel.delete.ts'
import { eventStatement } from '../../notifications/event.ts'
import { createNotifier } from '../../notifications/notifier.ts'
import { testApp } from '../app.ts'
import { answered, rows } from '../functions/answers.ts'
import { type HttpReceiver, httpReceiver, mailServer } from './receivers.ts'

const TOKEN = 'tk_very-s3cret-token'
const WithId = z.object({ id: z.string() })
const Sent = z.object({ id: z.string(), event: z.string(), text: z.string(), title: z.string() })

type App = Awaited<ReturnType<typeof notifyApp>>

/** The service with channels, and ways to let something happen. */
async function notifyApp() {
  const app = await testApp([channelsRead, addChannel, changeChannel, removeChannel])
  let happened = 0
  const at = () => app.services.clock().toISOString()
  const another = (db = app.db) => {
    const { secrets, clock, log } = app.services
    const made = createNotifier({ db, secrets, clock, log, publicUrl: undefined, onDemand: true, withinMs: 5_000 })
    onTestFinished(() => made.stop())
    return made
  }
  return {
    ...app,
    another,
    tick: () => app.services.notifications.tick(),
    async add(body: object): Promise<string> {
      const answer = await app.request('POST', '/api/notifications/channels', { as: 'admin', body })
      return WithId.parse(await answered(answer, 201)).id
    },
    webhook: (receiver: HttpReceiver, more: object = {}) => ({
      name: `hook ${receiver.url}`,
      kind: 'webhook',
      settings: { url: receiver.url, secret: TOKEN },
      ...more,
    }),
    /** Stores events as what they tell of does. */
    async happen(...events: Partial<Parameters<typeof eventStatement<'check_failed'>>[0]>[]) {
      await app.db.batch(
        events.map((each) => {
          happened += 1
          const details = { name: 'web', message: 'E: no route' }
          return eventStatement({
            key: `test:${happened}`,
            at: at(),
            event: 'check_failed',
            target: 'lxc:101',
            details,
            ...each,
          })
        }),
      )
    },
    critical: (key: string, run: string | null = null) =>
      app.db.batch([
        eventStatement({
          key,
          at: at(),
          event: 'host_unreachable',
          target: 'host',
          run,
          details: { name: 'pve1', message: 'gone' },
        }),
      ]),
    deliveries: () =>
      rows(app.db, 'SELECT * FROM notification_deliveries ORDER BY rowid').then((all) =>
        all.map(({ state, attempts, last_error, next_ms, delivered_at }) => ({
          state,
          attempts,
          last_error,
          next_ms: next_ms === null ? null : Number(next_ms),
          delivered_at,
        })),
      ),
  }
}

const bodies = ({ received }: HttpReceiver) => received.map(({ body }) => Sent.parse(JSON.parse(body)))

/** Forgets the leases of attempts that died with their process; they last as long as an attempt may. */
const expireLeases = ({ db }: App) => db.run('UPDATE notification_deliveries SET lease_until = 0')

test('an event is told to every channel that wants it, once', async () => {
  const app = await notifyApp()
  const [one, two, other, off] = await Promise.all([httpReceiver(), httpReceiver(), httpReceiver(), httpReceiver()])
  await app.add(app.webhook(one))
  await app.add(app.webhook(two, { targets: ['lxc:101'], minimum: 'warning' }))
  await app.add(app.webhook(other, { targets: ['lxc:102'] }))
  await app.add(app.webhook(off, { enabled: false }))

  await app.happen({})
  await app.tick()
  await app.tick()

  expect(bodies(one)).toEqual([expect.objectContaining({ event: 'check_failed' })])
  expect(bodies(two)).toHaveLength(1)
  expect(bodies(one)[0]?.id).not.toBe(bodies(two)[0]?.id)
  expect([...other.received, ...off.received]).toEqual([])
  expect(await app.deliveries()).toEqual([
    { state: 'delivered', attempts: 1, last_error: null, next_ms: null, delivered_at: '2026-03-01T12:00:00.000Z' },
    { state: 'delivered', attempts: 1, last_error: null, next_ms: null, delivered_at: '2026-03-01T12:00:00.000Z' },
  ])
  expect(await rows(app.db, 'SELECT event, severity, target FROM notices')).toEqual([
    { event: 'check_failed', severity: 'warning', target: 'lxc:101' },
  ])
})

test('an event that nobody wants is a notice, too, and an event that is stored twice is one', async () => {
  const app = await notifyApp()

  await app.happen({ key: 'same' }, { key: 'same' })
  await app.tick()

  expect(await rows(app.db, 'SELECT count(*) AS n FROM notices')).toEqual([{ n: 1 }])
  expect(await app.deliveries()).toEqual([])
})

test('the events of a run are one message after its end, and a channel gets those of them that it wants', async () => {
  const app = await notifyApp()
  const [all, some] = [await httpReceiver(), await httpReceiver()]
  await app.add(app.webhook(all))
  await app.add(app.webhook(some, { targets: ['lxc:102'] }))
  await app.db.run(
    `INSERT INTO jobs (id, kind, args, queue, target, status, started_at, started_by, run_id)
     SELECT 'j1', 'upgrade', '{}', '', 'lxc:101', 'running', '', id, 'run-1' FROM users LIMIT 1`,
  )

  await app.happen({ run: 'run-1' }, { run: 'run-1', target: 'lxc:102' })
  await app.tick()
  expect(all.received).toEqual([])
  await app.db.run(`UPDATE jobs SET status = 'success'`)
  await app.tick()

  expect(all.received).toHaveLength(1)
  expect(some.received).toHaveLength(1)
  expect(await rows(app.db, 'SELECT events FROM notification_deliveries ORDER BY events')).toEqual([
    { events: '[1,2]' },
    { events: '[2]' },
  ])
})

test('a critical event of a run at work is told within ten seconds, with what follows it', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver()
  await app.add(app.webhook(receiver))
  await app.db.run(
    `INSERT INTO jobs (id, kind, args, queue, target, status, started_at, started_by, run_id)
     SELECT 'j1', 'upgrade', '{}', '', 'lxc:101', 'running', '', id, 'run-1' FROM users LIMIT 1`,
  )

  await app.critical('c1', 'run-1')
  await app.tick()
  app.advance(4_000)
  await app.critical('c2', 'run-1')
  await app.tick()
  expect(receiver.received).toEqual([])
  app.advance(1_000)
  await app.tick()

  expect(receiver.received).toHaveLength(1)
  expect(await rows(app.db, 'SELECT notice_id FROM notification_events')).toEqual([{ notice_id: 1 }, { notice_id: 1 }])
})

test('a receiver that fails is asked again after growing pauses, and given up after a day for all to see', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver((response) => response.writeHead(500).end('later'))
  await app.add(app.webhook(receiver))
  await app.happen({})
  const pauses: number[] = []

  for (let n = 0; n < 60; n += 1) {
    await app.tick()
    const [{ next_ms } = Object()] = await app.deliveries()
    if (next_ms === null) break
    const left = next_ms - app.services.clock().getTime()
    pauses.push(left / 1_000)
    app.advance(left - 1)
    await app.tick()
    app.advance(1)
  }

  expect(pauses.slice(0, 9)).toEqual([10, 30, 90, 300, 600, 1_200, 2_400, 3_600, 3_600])
  expect(new Set(pauses.slice(8))).toEqual(new Set([3_600]))
  const total = pauses.reduce((sum, each) => sum + each, 0)
  expect(total).toBeGreaterThanOrEqual(86_400)
  expect(total).toBeLessThan(86_400 + 3_601)
  expect(receiver.received).toHaveLength(pauses.length + 1)
  expect(new Set(bodies(receiver).map(({ id }) => id)).size).toBe(1)
  const [delivery] = await app.deliveries()
  expect(delivery).toMatchObject({ state: 'given_up', last_error: `${receiver.url} a répondu HTTP 500 : later` })
  const { channels } = Object(
    await answered(await app.request('GET', '/api/notifications/channels', { as: 'admin' }), 200),
  )
  expect(channels[0].last).toMatchObject({ ok: false, error: `${receiver.url} a répondu HTTP 500 : later` })
  expect(app.lines().filter((line) => line.includes('"level":"error"'))).toHaveLength(1)
})

test('a receiver that is back gets everything, the oldest notice first', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver((response) => response.writeHead(503).end())
  await app.add(app.webhook(receiver))
  for (const message of ['first', 'second', 'third']) {
    await app.happen({ details: { name: 'web', message } })
    await app.tick()
  }
  receiver.received.length = 0
  receiver.answer = (response) => response.end()

  app.advance(60_000)
  await app.tick()

  expect(bodies(receiver).map(({ text }) => /first|second|third/.exec(text)?.[0])).toEqual(['first', 'second', 'third'])
})

test('a critical event overtakes a flood of others, stored before it or waiting for a receiver', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver((response) => response.writeHead(503).end())
  await app.add(app.webhook(receiver))
  await app.happen(...Array.from({ length: 205 }, () => ({})))
  await app.another().tick()
  await app.happen(...Array.from({ length: 2_000 }, () => ({})))
  await app.critical('late')
  receiver.received.length = 0

  app.advance(30_000)
  await app.another().tick()

  expect(bodies(receiver)[0]?.event).toBe('host_unreachable')
})

test('a slow receiver gets a critical notice after the message under way, not after all that wait', async () => {
  const app = await notifyApp()
  let answer = () => {}
  const receiver = await httpReceiver((response) => {
    answer = () => response.end()
    receiver.answer = (later) => later.end()
  })
  await app.add(app.webhook(receiver))
  const { secrets, clock, log } = app.services
  let passed = 0
  const elapsed = () => passed
  const notifier = createNotifier({ db: app.db, secrets, clock, log, publicUrl: undefined, elapsed })
  onTestFinished(() => notifier.stop())
  await app.happen({}, {}, {})
  await notifier.tick()
  await expect.poll(() => receiver.received.length).toBe(1)
  await app.critical('late')
  passed = 5_000
  answer()

  await expect
    .poll(async () => {
      await notifier.tick()
      return bodies(receiver)[1]?.event
    })
    .toBe('host_unreachable')
})

test('in quiet hours a notice waits for their end, and a critical one passes', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver()
  // It is 13:00 in Paris.
  await app.add(app.webhook(receiver, { quiet: { from: '12:30', to: '14:00', timezone: 'Europe/Paris' } }))

  await app.happen({})
  await app.critical('c1')
  await app.tick()

  expect(bodies(receiver).map(({ event }) => event)).toEqual(['host_unreachable'])
  expect(await app.deliveries()).toContainEqual(expect.objectContaining({ state: 'quiet', attempts: 0 }))
  app.advance(60 * 60_000 - 1)
  await app.tick()
  expect(receiver.received).toHaveLength(1)
  app.advance(1)
  await app.tick()
  expect(bodies(receiver).map(({ event }) => event)).toEqual(['host_unreachable', 'check_failed'])
})

test('a repeated attempt that would fall into quiet hours waits for their end', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver((response) => response.writeHead(500).end())
  await app.add(app.webhook(receiver, { quiet: { from: '12:01', to: '13:00', timezone: 'UTC' } }))
  await app.happen({})
  await app.tick()

  app.advance(60_000)
  await app.tick()

  expect(receiver.received).toHaveLength(1)
  expect(await app.deliveries()).toMatchObject([{ state: 'quiet', attempts: 1, next_ms: Date.UTC(2026, 2, 1, 13) }])
})

test('two instances on one database tell each event once, to each channel', async () => {
  const app = await notifyApp()
  const receivers = await Promise.all([httpReceiver(), httpReceiver(), httpReceiver()])
  for (const receiver of receivers) await app.add(app.webhook(receiver))
  const [one, two] = [app.another(), app.another()]

  for (let round = 0; round < 10; round += 1) {
    await app.happen({}, { run: `r${round}` }, { run: `r${round}` })
    await Promise.all([one.tick(), two.tick(), one.tick()])
  }
  await Promise.all([one.tick(), two.tick()])

  for (const receiver of receivers) {
    expect(receiver.received).toHaveLength(20)
    expect(new Set(bodies(receiver).map(({ id }) => id)).size).toBe(20)
  }
  expect(await rows(app.db, 'SELECT count(*) AS n FROM notices')).toEqual([{ n: 20 }])
})

test('a service that dies between sending and recording sends again, under the same id', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver()
  await app.add(app.webhook(receiver))
  await app.happen({})
  const isDead = () => receiver.received.length > 0
  const dying: Database = {
    ...app.db,
    batch: async (statements) => {
      if (isDead()) throw new StorageError('killed')
      return app.db.batch(statements)
    },
  }
  await app.another(dying).tick()
  expect(await app.deliveries()).toMatchObject([{ state: 'waiting', attempts: 1 }])

  await app.tick()
  expect(receiver.received).toHaveLength(1)
  await expireLeases(app)
  await app.tick()

  expect(receiver.received).toHaveLength(2)
  expect(new Set(receiver.received.map(({ headers }) => headers['x-panel-delivery'])).size).toBe(1)
  expect(await app.deliveries()).toMatchObject([{ state: 'delivered', attempts: 2 }])
})

test('an attempt that outlives its lease records nothing', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver()
  await app.add(app.webhook(receiver))
  await app.happen({})
  const other = app.another()
  receiver.answer = async (response) => {
    receiver.answer = (next) => next.end()
    await expireLeases(app)
    await other.tick()
    response.writeHead(500).end('too late')
  }

  await app.tick()

  expect(receiver.received).toHaveLength(2)
  expect(await app.deliveries()).toMatchObject([{ state: 'delivered', last_error: null }])
})

test('a receiver that hangs holds up neither the tick nor another channel, and the end of the service frees its notice', async () => {
  const app = await notifyApp()
  const [hanging, quick] = [await httpReceiver(() => {}), await httpReceiver()]
  await app.add(app.webhook(hanging))
  await app.add(app.webhook(quick))
  const { secrets, clock, log } = app.services
  const running = createNotifier({ db: app.db, secrets, clock, log, publicUrl: undefined })

  for (let n = 1; n <= 3; n += 1) {
    await app.happen({})
    await running.tick()
    await expect.poll(() => quick.received.length).toBe(n)
  }
  expect(hanging.received).toHaveLength(1)

  await running.stop()
  expect(await rows(app.db, 'SELECT id FROM notification_deliveries WHERE owner IS NOT NULL')).toEqual([])
  hanging.answer = (response) => response.end()
  await app.tick()
  expect(hanging.received).toHaveLength(4)
  expect((await app.deliveries()).every(({ state }) => state === 'delivered')).toBe(true)
})

test('what waits for a channel ends when it is switched off, and goes with a channel that is removed', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver((response) => response.writeHead(500).end())
  const id = await app.add(app.webhook(receiver))
  await app.happen({})
  await app.tick()
  const path = `/api/notifications/channels/${id}`

  await answered(await app.request('PATCH', path, { as: 'admin', body: { enabled: false } }), 200)
  app.advance(3_600_000)
  await app.happen({})
  await app.tick()
  expect(receiver.received).toHaveLength(1)
  expect(await app.deliveries()).toMatchObject([
    { state: 'given_up', next_ms: null, last_error: 'Le canal a été désactivé.' },
  ])

  await answered(await app.request('DELETE', path, { as: 'admin' }), 200)
  await app.tick()
  expect(await app.deliveries()).toEqual([])
  expect(await rows(app.db, 'SELECT id FROM notices')).toHaveLength(2)
})

test('a clock that is set back by a year stops nothing, and one that is set ahead does not give up at once', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver((response) => response.writeHead(500).end())
  await app.add(app.webhook(receiver))
  await app.happen({})
  await app.tick()
  const year = 365 * 86_400_000

  app.advance(-year)
  await app.tick()
  expect(await app.deliveries()).toMatchObject([{ state: 'waiting', attempts: 2 }])
  receiver.answer = (response) => response.end()
  app.advance(30_000)
  await app.tick()
  expect(await app.deliveries()).toMatchObject([{ state: 'delivered', attempts: 3 }])

  // The first attempt after a year is the first one: the day of attempts begins with it.
  receiver.answer = (response) => response.writeHead(500).end()
  await app.happen({})
  app.advance(year)
  await app.tick()
  expect((await app.deliveries()).at(-1)).toMatchObject({ state: 'waiting', attempts: 1 })
})

test('an event that this version cannot tell delays no other', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver()
  await app.add(app.webhook(receiver))
  await app.db.run(
    `INSERT INTO notification_events (key, at, event, severity, details) VALUES ('x', '', 'of_a_later_version', 'loud', '{}')`,
  )
  await app.happen({})

  await app.tick()

  expect(bodies(receiver).map(({ event }) => event)).toEqual(['check_failed'])
  expect(await rows(app.db, 'SELECT count(*) AS n FROM notices')).toEqual([{ n: 2 }])
})

test('only a channel that asks for it gets the end of a failed job’s output', async () => {
  const app = await notifyApp()
  const [with_, without] = [await httpReceiver(), await httpReceiver()]
  await app.add(app.webhook(with_, { output: true }))
  await app.add(app.webhook(without))
  const text = Array.from({ length: 50 }, (_, n) => `line ${n}`).join('\n')
  await app.db.batch([
    {
      sql: `INSERT INTO jobs (id, kind, args, queue, target, status, output_size, started_at, started_by)
            SELECT 'j1', 'upgrade', '{}', '', 'lxc:101', 'error', ?, '', id FROM users LIMIT 1`,
      args: [text.length],
    },
    { sql: `INSERT INTO job_output (job_id, offset, chunk) VALUES ('j1', 0, ?)`, args: [Buffer.from(text)] },
    eventStatement({
      key: 'f',
      at: app.services.clock().toISOString(),
      event: 'upgrade_failed',
      target: 'lxc:101',
      details: {
        job: 'j1',
        name: 'web',
        application: null,
        by: 'alice',
        outcome: 'failed',
        reason: null,
        code: 100,
        worse: 0,
        regressions: [],
        packages: null,
        security: null,
        schedule: null,
      },
    }),
  ])

  await app.tick()

  expect(bodies(with_)[0]?.text).toContain('line 49')
  expect(bodies(with_)[0]?.text).toContain('line 30\n')
  expect(bodies(with_)[0]?.text).not.toContain('line 29\n')
  expect(bodies(without)[0]?.text).not.toContain('line 49')
})

test('secrets are in no answer, log line, audit entry or row, whatever a receiver does', async () => {
  const app = await notifyApp()
  const echo = await httpReceiver((response, { headers, path }) =>
    response.writeHead(400).end(`${path} ${JSON.stringify(headers)}`),
  )
  const mail = await mailServer({ auth: { user: 'panel', password: 'other' } })
  const from = 'panel@pve.test'
  const settings = [
    ['ntfy', { url: echo.url, topic: 'a', token: TOKEN }],
    ['gotify', { url: echo.url, token: TOKEN }],
    ['webhook', { url: echo.url, secret: TOKEN }],
    ['apprise', { url: echo.url, key: TOKEN }],
    ['matrix', { url: echo.url, room: '!a:b', token: TOKEN }],
    [
      'email',
      { host: '127.0.0.1', port: mail.port, security: 'none', from, to: [from], username: 'panel', password: TOKEN },
    ],
  ] as const
  for (const [kind, each] of settings) await app.add({ name: kind, kind, settings: each })
  await app.happen({})
  await app.tick()

  const list = await app.request('GET', '/api/notifications/channels', { as: 'admin' })
  const tables = await rows(app.db, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
  const stored = await Promise.all(tables.map(({ name }) => rows(app.db, `SELECT * FROM "${name}"`)))
  const all = `${await list.text()} ${JSON.stringify(stored)} ${app.lines().join('\n')}`

  expect(await app.deliveries()).toHaveLength(6)
  expect(
    (await app.deliveries()).every(
      ({ last_error }) =>
        String(last_error).includes('•••') ||
        String(last_error).includes('535') ||
        String(last_error).includes('HTTP 400'),
    ),
  ).toBe(true)
  for (const form of [TOKEN, encodeURIComponent(TOKEN), Buffer.from(TOKEN).toString('hex')])
    expect(all).not.toContain(form)
  expect(all).not.toContain(Buffer.from(TOKEN).toString('base64').replace(/=+$/, '').slice(0, -1))
  expect(all).not.toContain(Buffer.from(`\0panel\0${TOKEN}`).toString('base64').slice(8, -3))
})

test('old notices go in pieces: those of more than a month, and beyond ten thousand; one that still waits stays', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver((response) => response.writeHead(500).end())
  await app.add(app.webhook(receiver))
  await app.happen({})
  await app.tick()
  const insert = (count: number, at: string) =>
    app.db.run(
      `INSERT INTO notices (at, event, severity)
       WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT ?, 'check_failed', 'warning' FROM n`,
      [count, at],
    )
  await insert(150, '2026-01-01T00:00:00.000Z')
  await insert(10_020, app.services.clock().toISOString())
  const count = async () => Number((await rows(app.db, 'SELECT count(*) AS n FROM notices'))[0]?.n)

  const another = app.another()
  await another.tick()
  const first = await count()
  for (let n = 0; n < 3; n += 1) await app.another().tick()

  expect(first).toBeGreaterThanOrEqual(10_171 - 200)
  expect(await count()).toBe(10_001)
  expect(await rows(app.db, 'SELECT id FROM notices WHERE id = 1')).toEqual([{ id: 1 }])
})

test('a clock that is a month ahead removes nothing at once, and a steady one removes what is old', async () => {
  const app = await notifyApp()
  const receiver = await httpReceiver()
  await app.add(app.webhook(receiver))
  await app.happen({})
  await app.tick()
  const { secrets, log } = app.services
  const month = 31 * 86_400_000
  let [ahead, passed] = [0, 0]
  const clock = () => new Date(app.services.clock().getTime() + ahead + passed)
  const elapsed = () => passed
  const notifier = createNotifier({ db: app.db, secrets, clock, log, publicUrl: undefined, elapsed, onDemand: true })
  onTestFinished(() => notifier.stop())
  const left = async () => (await rows(app.db, 'SELECT id FROM notices')).length
  const later = async (ms: number) => {
    passed += ms
    await notifier.tick()
    return left()
  }

  expect(await later(0)).toBe(1)
  ahead = month
  expect(await later(3_600_000)).toBe(1)
  ahead = 0
  expect(await later(86_300_000)).toBe(1)

  // From here on the clock goes steadily, and a month passes.
  expect(await later(month)).toBe(0)
})

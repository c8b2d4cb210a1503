import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import pings from '../../../functions/waves/schedule-pings.task.ts'
import { rows } from '../answers.ts'
import { NO_UPGRADES } from './simulations.ts'
import { MINUTE, wave, waveApp } from './wave-app.ts'

const SECRET = 'b1946ac9-2492'

/** A server that records the paths that it is asked for, and answers with `status`. */
async function receiver() {
  const given = { status: 200, location: '', holds: Promise.resolve() }
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    await given.holds
    response.writeHead(given.status, given.location ? { location: given.location } : {})
    response.end('OK')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return { url: `http://127.0.0.1:${port}/ping/${SECRET}`, asked, given }
}

/** A run with a plan for nothing, and an address to ping. */
async function pinged(given: Parameters<Awaited<ReturnType<typeof waveApp>>['begin']>[0] = {}) {
  const to = await receiver()
  const all = await waveApp({ containers: { 101: 'running' }, plans: { 101: { stdout: NO_UPGRADES } } })
  const id = await all.begin({ waves: [wave(['lxc:101'])], ...given }, to.url)
  const ping = () => pings.run(all.services)
  const states = () =>
    rows(all.db, 'SELECT pinged, ping_error, ping_attempts, ping_at_ms IS NULL AS settled FROM schedule_runs')
  return { ...all, ...to, id, ping, states }
}

test('the address hears of the beginning and of the success, once each', async () => {
  const { asked, id, ping, ended, states } = await pinged()

  await ping()
  await ping()
  expect(asked).toEqual([`GET /ping/${SECRET}/start`])
  await ended(id, 'done')
  await ping()
  await ping()

  expect(asked).toEqual([`GET /ping/${SECRET}/start`, `GET /ping/${SECRET}`])
  expect(await states()).toEqual([{ pinged: 'success', ping_error: null, ping_attempts: 1, settled: 1 }])
})

test('a run that does not do all its work is a failure, a cancelled one too', async () => {
  const { app, asked, id, ping, ended } = await pinged()
  await app.request('POST', `/api/schedules/runs/${id}/cancel`, { as: 'admin' })
  await ended(id, 'cancelled')

  await ping()

  // The beginning is over.
  expect(asked).toEqual([`GET /ping/${SECRET}/fail`])
})

test.each([
  ['missed', 'service_away', ['fail']],
  ['missed', 'all_paused', []],
])('a time that was %s (%s) is told: %j', async (state, reason, signals) => {
  const { db, asked, id, ping } = await pinged()
  await db.run(
    `INSERT INTO schedule_runs (id, schedule_id, due_ms, due_at, closes_at, settings, waves, state, reason)
     SELECT 'm', schedule_id, due_ms + 1, due_at, closes_at, settings, waves, ?, ? FROM schedule_runs WHERE id = ?`,
    [state, reason, id],
  )

  await ping()

  expect(asked.filter((each) => !each.endsWith('/start'))).toEqual(signals.map((each) => `GET /ping/${SECRET}/${each}`))
})

test('a signal that does not arrive is tried again with growing pauses, and given up', async () => {
  const { app, asked, given, ping, states } = await pinged()
  given.status = 503
  await ping()
  for (const pause of [10_000, 30_000, 90_000, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE, 60 * MINUTE]) {
    const before = asked.length
    app.advance(pause - 1)
    await ping()
    expect(asked).toHaveLength(before)
    app.advance(1)
    await ping()
    expect(asked).toHaveLength(before + 1)
  }

  app.advance(24 * 60 * MINUTE)
  await ping()
  expect(asked).toHaveLength(8)
  const error = 'L’adresse à signaler a répondu HTTP 503.'
  expect(await states()).toEqual([{ pinged: null, ping_error: error, ping_attempts: 8, settled: 1 }])
})

test('the address is in no log, no answer and no table in clear, and no redirect is followed', async () => {
  const { app, db, url, asked, given, id, ping, states } = await pinged()
  const other = await receiver()
  Object.assign(given, { status: 302, location: other.url })

  await ping()

  expect(asked).toHaveLength(1)
  expect(other.asked).toEqual([])
  expect(await states()).toMatchObject([
    { ping_error: expect.stringContaining('les redirections ne sont pas suivies') },
  ])
  const answer = await (await app.request('GET', `/api/schedules/runs/${id}`, { as: 'admin' })).text()
  expect(JSON.parse(answer)).toMatchObject({ ping_error: expect.stringContaining('redirections') })
  const stored = JSON.stringify([
    await rows(db, 'SELECT * FROM schedules'),
    await rows(db, 'SELECT * FROM schedule_runs'),
  ])
  for (const text of [answer, stored, app.lines().join('\n')]) {
    expect(text).not.toContain(SECRET)
    expect(text).not.toContain(new URL(url).host)
  }
})

test('an address that nobody listens at, or that was removed, is told without it', async () => {
  const { db, asked, ping, states } = await pinged()
  await db.run(`UPDATE schedules SET ping = 'v1.broken'`)
  await ping()
  expect(await states()).toMatchObject([{ ping_error: expect.stringContaining('déchiffrée') }])

  await db.run('UPDATE schedule_runs SET ping_at_ms = 0')
  await db.run('UPDATE schedules SET ping = NULL')
  await ping()

  expect(await states()).toMatchObject([{ ping_error: null, settled: 1 }])
  expect(asked).toEqual([])
})

test('of two instances one sends a signal', async () => {
  const { asked, ping } = await pinged()

  await Promise.all([ping(), ping(), ping()])

  expect(asked).toEqual([`GET /ping/${SECRET}/start`])
})

test('a run that ends while its beginning is told still tells its end', async () => {
  const { db, asked, given, ping, states } = await pinged()
  let letGo = () => {}
  given.holds = new Promise((resolve) => {
    letGo = resolve
  })

  const telling = ping()
  await expect.poll(() => asked).toHaveLength(1)
  await db.run(`UPDATE schedule_runs SET state = 'done'`)
  letGo()
  await telling
  await ping()

  expect(asked).toEqual([`GET /ping/${SECRET}/start`, `GET /ping/${SECRET}`])
  expect(await states()).toMatchObject([{ pinged: 'success', settled: 1 }])
})

test('a run that goes on after a failure and is done is not told as a success', async () => {
  const { asked, id, box, ping, ended } = await pinged({ on_failure: 'continue' })
  box.containers = {}
  await ended(id, 'done')

  await ping()

  expect(asked).toEqual([`GET /ping/${SECRET}/fail`])
})

test('a success that could not be sent is not sent after a newer run has failed', async () => {
  const { app, db, asked, given, id, ping, ended } = await pinged()
  given.status = 503
  await ended(id, 'done')
  await ping()
  expect(asked).toEqual([`GET /ping/${SECRET}`])
  given.status = 200
  app.advance(5_000)
  const at = app.services.clock().toISOString()
  await db.run(
    `INSERT INTO schedule_runs (id, schedule_id, due_ms, due_at, closes_at, settings, waves, state, finished_at)
     SELECT 'b', schedule_id, due_ms + 1, due_at, closes_at, settings, waves, 'stopped', ? FROM schedule_runs WHERE id = ?`,
    [at, id],
  )
  await ping()
  expect(asked.at(-1)).toBe(`GET /ping/${SECRET}/fail`)

  app.advance(5 * MINUTE)
  await ping()

  expect(asked).toEqual([`GET /ping/${SECRET}`, `GET /ping/${SECRET}/fail`])
})

test('a run whose end comes after a missed time tells its end, and one dated by a wrong clock silences nothing', async () => {
  const { app, db, asked, id, ping, ended } = await pinged()
  const add = (name: string, at: string) =>
    db.run(
      `INSERT INTO schedule_runs (id, schedule_id, due_ms, due_at, closes_at, settings, waves, state, reason, finished_at)
       SELECT ?, schedule_id, due_ms + 1, due_at, closes_at, settings, waves, 'missed', 'former_run', ? FROM schedule_runs WHERE id = ?`,
      [name, at, id],
    )
  await add('m', app.services.clock().toISOString())
  await add('wrong', '2100-01-01T00:00:00.000Z')
  app.advance(1_000)
  await ended(id, 'done')

  await ping()

  expect(asked).toContain(`GET /ping/${SECRET}`)
})

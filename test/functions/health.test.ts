import { expect, test } from 'vitest'
import * as z from 'zod'
import { SCHEMA_VERSION } from '../../db/migrate.ts'
import health from '../../functions/health/health.get.ts'
import monitorDatabase from '../../functions/health/monitor-database.task.ts'
import { START, testApp } from '../app.ts'
import { answered, audited } from './answers.ts'

const PATH = '/api/health'

test('any client can read the running version and its start time', async () => {
  const app = await testApp([health])

  const response = await app.request('GET', PATH)

  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await answered(response, 200)).toEqual({
    status: 'ok',
    version: '0.0.0-test',
    boot_id: 'boot-1',
    started_at: START.toISOString(),
  })
  expect(app.ran).toEqual([])
  expect(await audited(app.db)).toEqual([])
})

test('an invalid token is ignored', async () => {
  const app = await testApp([health])

  expect((await app.request('GET', PATH, { headers: { authorization: 'Bearer x' } })).status).toBe(200)
})

test('health is degraded with 503, in the same format, when the database does not answer', async () => {
  const app = await testApp([health])
  app.db.close()

  expect(await answered(await app.request('GET', PATH), 503)).toEqual({
    status: 'degraded',
    version: '0.0.0-test',
    boot_id: 'boot-1',
    started_at: START.toISOString(),
  })
})

test('health is degraded only while the database is read-only', async () => {
  const app = await testApp([health])
  await app.db.script("CREATE TRIGGER full BEFORE UPDATE ON schema_version BEGIN SELECT raise(ABORT, 'disk full'); END")
  const statuses = [(await app.request('GET', PATH)).status, (await app.request('GET', PATH)).status]
  await app.db.script('DROP TRIGGER full')

  expect(statuses).toEqual([503, 503])
  expect((await app.request('GET', PATH)).status).toBe(200)
})

test('health is degraded once a newer program has changed the database, and the log says so', async () => {
  const app = await testApp([health])
  await app.db.script(`INSERT INTO schema_version VALUES (${SCHEMA_VERSION + 1}, '2026-03-01T12:00:00.000Z')`)

  expect((await app.request('GET', PATH)).status).toBe(503)
  await monitorDatabase.run(app.services)
  expect(app.lines().at(-1)).toContain(`newer than this program (${SCHEMA_VERSION})`)
})

test('frequent requests change the database about once a second', async () => {
  const app = await testApp([health])
  await app.db.script(`CREATE TABLE changes (n INTEGER);
    CREATE TRIGGER counted AFTER UPDATE ON schema_version BEGIN INSERT INTO changes VALUES (1); END`)

  for (let n = 0; n < 200; n++) await app.request('GET', PATH)

  const changes = await app.db.query(z.unknown(), 'SELECT n FROM changes')
  expect(changes.length).toBeGreaterThan(0)
  expect(changes.length).toBeLessThan(100)
})

test('health has no limit: many clients poll it every 3 s', async () => {
  const app = await testApp([health])
  const statuses = new Set<number>()

  for (let n = 0; n < 2000; n++) statuses.add((await app.request('GET', PATH)).status)

  expect(statuses).toEqual(new Set([200]))
})

import { expect, test } from 'vitest'
import health from '../../functions/health/health.get.ts'
import { START, testApp } from '../app.ts'
import { answered, audited } from './answers.ts'

const PATH = '/api/health'

test('tells who runs and since when, to anybody', async () => {
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

test('a worthless token does not matter', async () => {
  const app = await testApp([health])

  expect((await app.request('GET', PATH, { headers: { authorization: 'Bearer x' } })).status).toBe(200)
})

test('is degraded with 503, in the same shape, when the database does not answer', async () => {
  const app = await testApp([health])
  app.db.close()

  expect(await answered(await app.request('GET', PATH), 503)).toEqual({
    status: 'degraded',
    version: '0.0.0-test',
    boot_id: 'boot-1',
    started_at: START.toISOString(),
  })
})

test('is not limited: many clients poll it every 3 s', async () => {
  const app = await testApp([health])
  const statuses = new Set<number>()

  for (let n = 0; n < 2000; n++) statuses.add((await app.request('GET', PATH)).status)

  expect(statuses).toEqual(new Set([200]))
})

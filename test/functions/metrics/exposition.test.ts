import { expect, test } from 'vitest'
import * as z from 'zod'
import { StorageError } from '../../../db/libsql/database.ts'
import { createMetrics } from '../../../functions/metrics/metrics.ts'
import { open } from '../../db/database.ts'
import { parseExposition, sampleOf } from '../../exposition.ts'

test('counts requests by method, path and status, and their time', async () => {
  const metrics = await createMetrics()
  metrics.request('GET', '/api/jobs/:id', 200, 0.003)
  metrics.request('GET', '/api/jobs/:id', 200, 1)
  metrics.request('GET', '/api/jobs/:id', 404, 40)

  const samples = parseExposition(await metrics.text())

  const path = '/api/jobs/:id'
  expect(sampleOf(samples, 'ops_panel_http_requests_total', { method: 'GET', path, status: '200' })).toBe(2)
  expect(sampleOf(samples, 'ops_panel_http_requests_total', { method: 'GET', path, status: '404' })).toBe(1)
  const seconds = 'ops_panel_http_request_seconds'
  expect(sampleOf(samples, `${seconds}_count`, { method: 'GET', path })).toBe(3)
  expect(sampleOf(samples, `${seconds}_bucket`, { method: 'GET', path, le: '0.005' })).toBe(1)
  expect(sampleOf(samples, `${seconds}_bucket`, { method: 'GET', path, le: '30' })).toBe(2)
  expect(sampleOf(samples, `${seconds}_bucket`, { method: 'GET', path, le: '+Inf' })).toBe(3)
  expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
})

const counted = (status: string, count: number) => ({ kind: 'upgrade', status, count })

test('gauges are read at each request, and not between requests', async () => {
  const metrics = await createMetrics()
  let [sockets, asked] = [2, 0]
  metrics.look({
    sockets: () => sockets,
    sshConnections: () => 1,
    jobs: async () => {
      asked += 1
      return [counted('running', asked), counted('success', 0)]
    },
  })
  expect(asked).toBe(0)

  const first = parseExposition(await metrics.text())
  sockets = 5
  const second = parseExposition(await metrics.text())

  expect([first, second].map((samples) => sampleOf(samples, 'ops_panel_sockets'))).toEqual([2, 5])
  expect(sampleOf(second, 'ops_panel_ssh_connections')).toBe(1)
  expect(
    [first, second].map((samples) => sampleOf(samples, 'ops_panel_jobs', { kind: 'upgrade', status: 'running' })),
  ).toEqual([1, 2])
  expect(sampleOf(second, 'ops_panel_jobs', { kind: 'upgrade', status: 'success' })).toBe(0)
})

test('an unreachable database is reported together with all other metrics', async () => {
  const metrics = await createMetrics()
  let answers = true
  const jobs = async () => {
    if (answers) return [counted('running', 1)]
    throw new StorageError('gone')
  }
  metrics.look({ sockets: () => 3, sshConnections: () => 1, jobs })
  const read = async () => parseExposition(await metrics.text())

  const well = await read()
  answers = false
  const ill = await read()
  answers = true

  const [up, running] = ['ops_panel_database_up', 'ops_panel_jobs']
  expect([well, ill, await read()].map((samples) => sampleOf(samples, up))).toEqual([1, 0, 1])
  expect([well, ill].map((samples) => sampleOf(samples, running, { kind: 'upgrade', status: 'running' }))).toEqual([
    1,
    undefined,
  ])
  expect(sampleOf(ill, 'ops_panel_sockets')).toBe(3)
})

test('a timed database behaves the same, and counts each call, including failed ones', async () => {
  const metrics = await createMetrics()
  const db = metrics.timed(await open())
  await db.script('CREATE TABLE t (n INTEGER)')
  const count = async () => sampleOf(parseExposition(await metrics.text()), 'ops_panel_database_seconds_count') ?? 0
  const before = await count()

  expect(await db.run('INSERT INTO t VALUES (1)')).toBe(1)
  expect(await db.batch([{ sql: 'INSERT INTO t VALUES (2)' }])).toEqual([1])
  expect(await db.query(z.object({ n: z.number() }), 'SELECT n FROM t')).toEqual([{ n: 1 }, { n: 2 }])
  await expect(db.run('INSERT INTO nowhere VALUES (1)')).rejects.toThrow()

  expect(await count()).toBe(before + 4)
})

test('two instances in one process count separately', async () => {
  const [one, two] = [await createMetrics(), await createMetrics()]
  for (const each of [one, two]) each.look({ sockets: () => 0, sshConnections: () => 0, jobs: async () => [] })
  one.request('GET', '/x', 200, 1)

  const labels = { method: 'GET', path: '/x', status: '200' }
  expect(sampleOf(parseExposition(await one.text()), 'ops_panel_http_requests_total', labels)).toBe(1)
  expect(sampleOf(parseExposition(await two.text()), 'ops_panel_http_requests_total', labels)).toBeUndefined()
})

import { once } from 'node:events'
import { request as ask } from 'node:http'
import { expect, test } from 'vitest'
import metricsPage from '../../functions/metrics/metrics.get.ts'
import { testApp } from '../app.ts'
import { parseExposition, sampleOf } from '../exposition.ts'
import { startDemo } from '../runtime/demo.ts'
import { openSocket, startService } from '../serve/service.ts'
import { refused } from './answers.ts'

const ON = { PANEL_METRICS: 'on' }
const TOTAL = 'ops_panel_http_requests_total'

async function read(url: string) {
  const answer = await fetch(`${url}/metrics`)
  expect(answer.status).toBe(200)
  const text = await answer.text()
  return { answer, text, samples: parseExposition(text) }
}

test('when metrics are off, the address gives the usual 404', async () => {
  const { request } = await testApp([metricsPage])

  await refused(await request('GET', '/metrics'), 404, 'not_found')
  await refused(await request('GET', '/metrics', { as: 'admin' }), 404, 'not_found')
})

test('when metrics are on, anybody can read them as text of the format 0.0.4, with the headers of every response', async () => {
  const { url } = await startService(await startDemo(), ON)

  const { answer } = await read(url)
  const sent = ask(`${url}/metrics`, { agent: false })
  sent.end()
  const [raw] = await once(sent, 'response')
  raw.resume()

  const types = raw.rawHeaders.filter(
    (_: string, at: number, all: string[]) => all[at - 1]?.toLowerCase() === 'content-type',
  )
  expect(types).toEqual(['text/plain; version=0.0.4; charset=utf-8'])
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  expect(answer.headers.get('x-frame-options')).toBe('DENY')
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
})

test('requests are counted by declared path and status, including refusals, and ids create no series', async () => {
  const { url, request } = await startService(await startDemo(), ON)
  for (const id of ['4711', '4712', '4713']) await request('DELETE', `/api/auth/sessions/${id}`)
  await fetch(`${url}/api/auth/me`)
  await request('GET', '/api/auth/me')
  await request('POST', '/api/updates/run', { target: '' })
  await fetch(`${url}/nowhere/4714`)

  const { samples, text } = await read(url)

  const counted = (method: string, path: string, status: string) => sampleOf(samples, TOTAL, { method, path, status })
  expect(counted('DELETE', '/api/auth/sessions/:id', '404')).toBe(3)
  expect(counted('GET', '/api/auth/me', '401')).toBe(1)
  expect(counted('GET', '/api/auth/me', '200')).toBe(1)
  expect(counted('POST', '/api/updates/run', '400')).toBe(1)
  // Only in names and labels: a value, such as a clock's, may well be such a number.
  expect(text).not.toMatch(/471[1-4].*["}]/)
  expect(sampleOf(samples, 'ops_panel_http_request_seconds_count', { method: 'GET', path: '/api/auth/me' })).toBe(2)
})

test('metrics report jobs, sockets, SSH connections and the database, and no user', async () => {
  const demo = await startDemo()
  const service = await startService(demo, ON)
  const { url } = service
  const body = JSON.stringify({ username: 'demo', password: 'demo' })
  expect((await fetch(`${url}/api/auth/login`, { method: 'POST', body })).status).toBe(200)
  const before = (await read(url)).samples
  expect(sampleOf(before, 'ops_panel_sockets')).toBe(0)
  expect(sampleOf(before, 'ops_panel_jobs', { kind: 'upgrade', status: 'success' })).toBe(0)

  const id = await service.run('host')
  await expect.poll(async () => (await service.job(id))?.status).toBe('success')
  // A running job, and a client that follows it.
  demo.lineMs = 100
  const running = await service.run('lxc:101')
  const socket = openSocket(url, `/ws/updates/${running}`, { token: service.token })
  await socket.opened

  const { samples, text } = await read(url)
  expect(sampleOf(samples, 'ops_panel_jobs', { kind: 'upgrade', status: 'success' })).toBe(1)
  expect(sampleOf(samples, 'ops_panel_jobs', { kind: 'upgrade', status: 'running' })).toBe(1)
  expect(sampleOf(samples, 'ops_panel_jobs', { kind: 'upgrade', status: 'error' })).toBe(0)
  expect(sampleOf(samples, 'ops_panel_sockets')).toBe(1)
  expect(sampleOf(samples, 'ops_panel_ssh_connections')).toBeGreaterThan(0)
  const calls = 'ops_panel_database_seconds_count'
  expect(sampleOf(samples, calls)).toBeGreaterThan(sampleOf(before, calls) ?? 0)
  expect(sampleOf(samples, 'process_resident_memory_bytes')).toBeGreaterThan(0)
  for (const told of [
    'demo"',
    'bob',
    'panel"',
    '127.0.0.1',
    service.token,
    demo.service.password,
    id,
    running,
    service.folder,
  ])
    expect(text).not.toContain(told)
  socket.ws.close()
  await socket.end
  await expect.poll(async () => sampleOf((await read(url)).samples, 'ops_panel_sockets')).toBe(0)
})

test('two servers in one process report separate metrics', async () => {
  const demo = await startDemo()
  const [one, two] = [await startService(demo, ON), await startService(demo, ON)]
  await one.request('GET', '/api/auth/me')

  const labels = { method: 'GET', path: '/api/auth/me', status: '200' }
  expect(sampleOf((await read(one.url)).samples, TOTAL, labels)).toBe(1)
  expect(sampleOf((await read(two.url)).samples, TOTAL, labels)).toBeUndefined()
})

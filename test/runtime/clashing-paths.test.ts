import { expect, test } from 'vitest'
import * as z from 'zod'
import { functions } from '../../functions/index.ts'
import { defineFunction } from '../../functions/services.ts'
import { apart } from '../../runtime/paths.ts'
import { testApp } from '../app.ts'
import { answered, refused } from '../functions/answers.ts'

const text = z.object({ got: z.string() })
const rest = { summary: 's', description: 'd', auth: 'none', rateLimit: false, response: text } as const
const id = { params: z.object({ id: z.string() }) }

const one = defineFunction({
  ...rest,
  method: 'GET',
  path: '/api/things/:id',
  request: id,
  handler: async ({ params }) => ({ got: `one ${params.id}` }),
})
const change = defineFunction({
  ...{ ...rest, method: 'PATCH', path: '/api/things/:id', request: id, audit: false },
  handler: async ({ params }) => ({ got: `change ${params.id}` }),
})
const preview = defineFunction({
  ...rest,
  method: 'GET',
  path: '/api/things/preview',
  handler: async () => ({ got: 'preview' }),
})
const runs = defineFunction({
  ...rest,
  method: 'GET',
  path: '/api/things/:id/runs',
  request: id,
  handler: async ({ params }) => ({ got: `runs of ${params.id}` }),
})
const run = defineFunction({
  ...rest,
  method: 'GET',
  path: '/api/things/runs/:id',
  request: id,
  handler: async ({ params }) => ({ got: `run ${params.id}` }),
})
const plain = defineFunction({ ...rest, method: 'GET', path: '/api/things', handler: async () => ({ got: 'all' }) })
const all = [plain, one, change, runs, preview, run]

test('a word comes before a parameter in the same place, in whatever order they are declared', async () => {
  for (const declared of [all, [...all].reverse()]) {
    const app = await testApp(declared)
    const got = async (path: string) => answered(await app.request('GET', path), 200)

    expect(await got('/api/things')).toEqual({ got: 'all' })
    expect(await got('/api/things/preview')).toEqual({ got: 'preview' })
    expect(await got('/api/things/x')).toEqual({ got: 'one x' })
    expect(await got('/api/things/x/runs')).toEqual({ got: 'runs of x' })
    expect(await got('/api/things/runs/x')).toEqual({ got: 'run x' })
    expect(await got('/api/things/runs/runs')).toEqual({ got: 'run runs' })
  }
})

test('another method at the word is 405, and not a request to the parameter', async () => {
  const app = await testApp(all)

  await answered(await app.request('PATCH', '/api/things/x', { body: {} }), 200)
  const response = await app.request('PATCH', '/api/things/preview', { body: {} })
  expect(response.headers.get('allow')).toBe('GET')
  await refused(response, 405, 'method_not_allowed')
  await refused(await app.request('GET', '/api/things/x/y'), 404, 'not_found')
  expect((await app.request('HEAD', '/api/things/preview')).status).toBe(200)
})

test('only the addresses that clash leave the faster router', () => {
  const { plain: fast, clashing } = apart(functions)

  expect(fast.length + clashing.length).toBe(functions.length)
  expect(clashing.filter(({ path }) => !/^\/($|api\/(schedules|auth\/factors)\/)/.test(path))).toEqual([])
  expect(clashing.length).toBeGreaterThan(5)
})

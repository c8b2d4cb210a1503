import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineFunction } from '../../functions/services.ts'
import { JsonStream, jsonText } from '../../runtime/json-stream.ts'
import { testApp } from '../app.ts'

/** A function that streams its answer from these pieces. */
const streaming = (pieces: () => AsyncGenerator<string>) =>
  defineFunction({
    method: 'GET',
    path: '/api/streamed',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'none',
    rateLimit: false,
    response: z.array(z.string()),
    handler: async () => new JsonStream(pieces()),
  })

test('a streamed answer arrives complete, as JSON, with the headers of every response', async () => {
  const text = 'quote " backslash \\ line\nend é 𝒳 \u2028 \0'
  const { request } = await testApp([
    streaming(async function* () {
      yield '["'
      for (const part of [text.slice(0, 9), text.slice(9)]) yield jsonText(part)
      yield '"]'
    }),
  ])

  const response = await request('GET', '/api/streamed')

  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
  expect(await response.json()).toEqual([text])
})

test('pieces are produced only as they are read, and none after the reader leaves', async () => {
  const made: number[] = []
  let ended = false
  const { request } = await testApp([
    streaming(async function* () {
      try {
        for (let n = 0; n < 1_000; n += 1) {
          made.push(n)
          yield `${n === 0 ? '[' : ','}"${'x'.repeat(1_000)}"`
        }
      } finally {
        ended = true
      }
    }),
  ])
  const response = await request('GET', '/api/streamed')
  const reader = response.body?.getReader()

  await reader?.read()
  await reader?.cancel()

  expect(made.length).toBeLessThan(4)
  expect(ended).toBe(true)
})

test('an error in the stream breaks the answer off, and is logged with its id', async () => {
  const { request, lines } = await testApp([
    streaming(async function* () {
      yield '["one"'
      throw new Error('the database has gone')
    }),
  ])

  const response = await request('GET', '/api/streamed')

  await expect(response.text()).rejects.toThrow('the database has gone')
  const line = lines().find((each) => each.includes('an answer broke off')) ?? ''
  expect(line).toContain(response.headers.get('x-request-id'))
  expect(line).toContain('the database has gone')
})

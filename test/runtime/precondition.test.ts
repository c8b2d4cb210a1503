import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineFunction, fail } from '../../functions/services.ts'
import type { AnyFunction } from '../../runtime/function.ts'
import { testApp } from '../app.ts'
import { answered, refused } from '../functions/answers.ts'

const PATH = '/api/probe'
const TOO_LONG = 'x'.repeat(1024 * 1024 + 1)

/** A function that reports its calls, and whose precondition acts as configured. */
async function probe(precondition: () => Promise<void>, more: Partial<AnyFunction> = {}) {
  const happened: string[] = []
  const fn = defineFunction({
    method: 'POST',
    path: PATH,
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'user',
    rateLimit: { limit: 2, seconds: 60, by: 'user' },
    audit: false,
    async precondition({ user }) {
      happened.push(`precondition for ${user.username}`)
      await precondition()
    },
    request: { body: z.object({ a: z.number() }) },
    response: z.object({ a: z.number() }),
    errors: ['already_installed'],
    handler({ body: { a } }) {
      happened.push('handler')
      return { a }
    },
  })
  const app = await testApp([{ ...fn, ...more }])
  return { app, happened, send: (body: unknown) => app.request('POST', PATH, { as: 'user', body }) }
}

const installed = async () => {
  throw fail('already_installed')
}

test('a precondition that holds passes the request to the handler', async () => {
  const { send, happened } = await probe(async () => {})

  expect(await answered(await send({ a: 1 }), 200)).toEqual({ a: 1 })

  expect(happened).toEqual(['precondition for bob', 'handler'])
})

test('a precondition that holds precedes the parsing of the body', async () => {
  const { send, happened } = await probe(async () => {})

  await refused(await send('{'), 400, 'invalid_json')

  expect(happened).toEqual(['precondition for bob'])
})

test.each([
  ['right', { a: 1 }],
  ['wrong', { a: 'x' }],
  ['unreadable', '{'],
  ['too long', TOO_LONG],
])('a failed precondition is the answer when the body is %s, and the handler is not called', async (_, body) => {
  const { send, happened } = await probe(installed)

  await refused(await send(body), 409, 'already_installed')

  expect(happened).toEqual(['precondition for bob'])
})

test('a failed precondition leaves the body unread', async () => {
  const { app } = await probe(installed)
  let pulled = 0
  const body = new ReadableStream(
    {
      pull(controller) {
        pulled += 1
        controller.enqueue(Buffer.from('{'))
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { authorization: `Bearer ${await app.tokenFor('user')}` }

  await refused(
    await app.app.request(PATH, { method: 'POST', headers, body, duplex: 'half' }),
    409,
    'already_installed',
  )

  expect(pulled).toBe(0)
})

test('the precondition follows the token and the role', async () => {
  const { app, happened } = await probe(installed)
  await refused(await app.request('POST', PATH, { body: {} }), 401, 'unauthenticated')
  expect(happened).toEqual([])

  const forAdmins = await probe(installed, { auth: 'admin' })
  await refused(await forAdmins.send({}), 403, 'forbidden')
  expect(forAdmins.happened).toEqual([])
})

test('the precondition follows the limit', async () => {
  const { send, happened } = await probe(installed)
  await send({})
  await send({})

  await refused(await send({}), 429, 'rate_limited')

  expect(happened).toHaveLength(2)
})

test('the precondition follows the limit of an address', async () => {
  const { app, happened } = await probe(installed, { rateLimit: { limit: 1, seconds: 60, by: 'address' } })
  const send = () => app.request('POST', PATH, { as: 'user', body: {}, from: '192.0.2.1' })
  await refused(await send(), 409, 'already_installed')

  await refused(await send(), 429, 'rate_limited')

  expect(happened).toHaveLength(1)
})

test('the errors of a precondition must be declared', async () => {
  const { send, app, happened } = await probe(installed, { errors: [] })

  await refused(await send({ a: 1 }), 500, 'internal')

  expect(happened).toEqual(['precondition for bob'])
  expect(app.lines().join()).toContain('code not declared')
})

test('an unexpected error of a precondition is internal, and reveals nothing of its cause', async () => {
  const { send, happened } = await probe(async () => {
    throw new Error('the cause')
  })

  const body = await refused(await send({ a: 1 }), 500, 'internal')

  expect(JSON.stringify(body)).not.toContain('the cause')
  expect(happened).not.toContain('handler')
})

import { expect, test } from 'vitest'
import * as z from 'zod'
import { defineFunction } from '../../functions/services.ts'
import { testApp } from '../app.ts'
import { answered, refused } from '../functions/answers.ts'
import { listening } from '../serve/listening.ts'

const probe = defineFunction({
  method: 'GET',
  path: '/api/probe/cookies',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'none',
  rateLimit: false,
  request: { cookies: z.object({ one: z.string().optional(), two: z.string().optional() }) },
  response: z.object({ one: z.string().optional(), two: z.string().optional(), names: z.array(z.string()) }),
  handler: ({ cookies }) => ({ ...cookies, names: Object.keys(cookies).sort() }),
})

test.each([
  ['one', 'one=1', { one: '1' }],
  ['two in one header', 'one=1; two=2', { one: '1', two: '2' }],
  ['without a space between them', 'one=1;two=2', { one: '1', two: '2' }],
  ['spaces around', '  one = 1 ;   two =2  ', { one: '1', two: '2' }],
  ['undeclared ones', 'other=x; one=1; __proto__=y; constructor=z', { one: '1' }],
  ['an empty one', 'one=; two=2', { one: '', two: '2' }],
  ['one in quotes', 'one="1"', { one: '1' }],
  ['one with an equals sign in it', 'one=a=b==', { one: 'a=b==' }],
  ['a token', 'one=eyJ.a-b_c.d', { one: 'eyJ.a-b_c.d' }],
  ['an encoded one', 'one=%C3%A9', { one: 'é' }],
  ['a wrongly encoded one', 'one=%zz', { one: '%zz' }],
  ['the same twice: the first counts', 'one=1; one=2', { one: '1' }],
  ['another case', 'One=1; ONE=2', {}],
  ['no value', 'one; two=2', { two: '2' }],
  ['no name', '=1; two=2', { two: '2' }],
  ['nothing between', ';;; ; two=2;', { two: '2' }],
  ['nothing at all', '', {}],
  ['no cookie', 'what is this', {}],
])('cookies are parsed: %s', async (_, cookie, expected) => {
  const app = await testApp([probe])

  const response = await app.request('GET', probe.path, { headers: { cookie } })

  expect(await answered(response, 200)).toEqual({ ...expected, names: Object.keys(expected).sort() })
  expect(response.headers.getSetCookie()).toEqual([])
})

test('without the header there are no cookies', async () => {
  const app = await testApp([probe])

  expect(await answered(await app.request('GET', probe.path), 200)).toEqual({ names: [] })
})

test('a flood of cookies is parsed as well', async () => {
  const app = await testApp([probe])
  const cookie = `${'x=y; '.repeat(10_000)}one=1`

  expect(await answered(await app.request('GET', probe.path, { headers: { cookie } }), 200)).toMatchObject({ one: '1' })
})

test('over the wire the cookies are the same, in any number of headers', async () => {
  const { services } = await testApp([])
  const { send } = await listening(services, { functions: [probe] })

  const { body } = await send('GET', probe.path, { cookie: ['one=1', 'two=2; other=x'] })

  expect(JSON.parse(body)).toEqual({ one: '1', two: '2', names: ['one', 'two'] })
})

test('cookies that the schema refuses are an invalid request', async () => {
  const strict = defineFunction({
    method: 'GET',
    path: '/api/probe/strict',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'none',
    rateLimit: false,
    request: { cookies: z.object({ lang: z.enum(['fr', 'en']) }) },
    response: z.string(),
    handler: ({ cookies: { lang } }) => lang,
  })
  const app = await testApp([strict])
  const ask = (cookie: string) => app.request('GET', strict.path, { headers: { cookie } })

  expect(await answered(await ask('lang=en'), 200)).toBe('en')
  const { details } = await refused(await ask('lang=de'), 400, 'invalid_request')
  expect(details?.map(({ field }) => field)).toEqual(['lang'])
  await refused(await ask(''), 400, 'invalid_request')
})

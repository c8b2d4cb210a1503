import { expect, test } from 'vitest'
import * as z from 'zod'
import { enableModule } from '../../db/modules.ts'
import { answered } from '../functions/answers.ts'
import { appWithModules } from './kit-app.ts'

const Operation = z.looseObject({
  operationId: z.string(),
  summary: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  parameters: z.array(z.looseObject({ name: z.string(), in: z.string(), required: z.boolean().optional() })).optional(),
  requestBody: z
    .looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown().optional() })) })
    .optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown().optional() })) }),
  ),
})
const Document = z.looseObject({
  tags: z.array(z.looseObject({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
})

const HELLO = `
export default ({ z, defineFunction, defineSettings }) => [
  defineFunction({
    method: 'POST',
    path: '/api/modules/hello/greetings/:lang',
    summary: 'Greet',
    description: 'Greets somebody.',
    auth: 'user',
    rateLimit: { limit: 3, seconds: 60, by: 'user' },
    audit: false,
    request: {
      params: z.object({ lang: z.enum(['fr', 'en']) }),
      query: z.object({ loud: z.string().optional() }),
      body: z.object({ name: z.string().max(80).describe('Who is greeted.').meta({ id: 'Module' }) }),
    },
    status: 201,
    response: z.object({ message: z.string() }),
    example: { body: { name: 'Ann' }, response: { message: 'Hello Ann.' } },
    handler: () => ({ message: '' }),
  }),
  defineFunction({
    method: 'GET',
    path: '/api/modules/hello/greetings/:language',
    auth: 'none',
    rateLimit: false,
    request: { params: z.object({ language: z.string() }) },
    response: z.array(z.int()),
    handler: () => [],
  }),
  defineSettings({ fields: z.object({ a: z.string().optional() }) }),
]
`

async function documentOf(app: Awaited<ReturnType<typeof appWithModules>>) {
  return Document.parse(await answered(await app.request('GET', '/api/openapi.json', { as: 'user' }), 200))
}

test('the document describes the endpoints of a module under its own tag, with their schemas', async () => {
  const app = await appWithModules({ hello: HELLO })
  const { tags, paths } = await documentOf(app)

  expect(tags.at(-1)).toEqual({ name: 'hello', description: 'The module hello.' })
  const { get, post } = paths['/api/modules/hello/greetings/{lang}'] ?? {}
  expect(post).toMatchObject({
    operationId: 'postModulesHelloGreetingsByLang',
    summary: 'Greet',
    tags: ['hello'],
    'x-role': 'user',
    'x-rate-limit': { limit: 3, seconds: 60, by: 'user' },
    parameters: [
      { name: 'lang', in: 'path', required: true, schema: { enum: ['fr', 'en'] } },
      { name: 'loud', in: 'query', required: false },
    ],
    requestBody: {
      content: {
        'application/json': {
          schema: { properties: { name: { type: 'string', maxLength: 80, description: 'Who is greeted.' } } },
          example: { name: 'Ann' },
        },
      },
    },
    responses: {
      '201': {
        content: {
          'application/json': {
            schema: { required: ['message'] },
            example: { message: 'Hello Ann.' },
          },
        },
      },
      '429': {},
    },
  })
  // One path has one name for its parameter.
  expect(get).toMatchObject({
    summary: 'GET greetings/{language}',
    parameters: [{ name: 'lang', in: 'path' }],
    responses: { '200': { content: { 'application/json': { schema: { items: { type: 'integer' } } } } } },
  })
  expect(Object.keys(paths['/api/modules/hello/settings'] ?? {})).toEqual(['get', 'patch'])
})

test('callers who are not signed in are told of no module', async () => {
  const app = await appWithModules({ hello: HELLO })

  const { paths } = Document.parse(await answered(await app.request('GET', '/api/openapi.json'), 200))
  expect(Object.keys(paths)).toContain('/api/modules')
  expect(Object.keys(paths).filter((path) => path.startsWith('/api/modules/hello'))).toEqual([])
})

test('the document is that of the modules that are enabled now, and is made once for them', async () => {
  const app = await appWithModules({ hello: HELLO })
  const documentNow = async () => app.services.documents.openApi(await app.services.modules.documented())

  expect(await documentNow()).toBe(await documentNow())
  await app.db.batch([enableModule('hello', false, '')])
  const { tags, paths } = await documentOf(app)
  expect(JSON.stringify(tags)).not.toContain('hello')
  expect(Object.keys(paths).filter((path) => path.includes('/hello/'))).toEqual([])
  await app.db.batch([enableModule('hello', true, '')])
  expect((await documentOf(app)).paths).toHaveProperty(['/api/modules/hello/settings'])
})

test('what cannot be described is left out, without a loss of the rest', async () => {
  const odd = `
    export default ({ z, defineFunction }) => {
      const circle = { response: {} }
      circle.response.self = circle
      const Tree = z.object({ get children() { return z.array(Tree) } })
      const one = (path, more) => defineFunction({
        method: 'POST', path: '/api/modules/odd/' + path, auth: 'none', rateLimit: false, audit: false,
        response: z.object({ a: z.string() }), handler: () => ({ a: '' }), ...more,
      })
      return [
        one('tree', { response: Tree }),
        one('circle', { example: circle }),
        one('long', { summary: 's'.repeat(1000), description: 'd\\u0007'.repeat(9000) }),
        one('big', { response: z.enum(Array.from({ length: 20000 }, (_, i) => 'value' + i)) }),
        one('a-b', {}),
        one('a/b', {}),
        one('transformed', { request: { body: z.object({ at: z.date(), n: z.bigint(), t: z.string().transform(Number) }) } }),
      ]
    }`
  const app = await appWithModules({ odd })
  expect(app.services.modules.problem('odd')).toBeUndefined()
  const { paths } = await documentOf(app)
  const post = (path: string) => paths[`/api/modules/odd/${path}`]?.post
  const answer = (path: string) => post(path)?.responses['200']?.content['application/json']

  expect(answer('tree')).toEqual({})
  expect(answer('circle')).toMatchObject({ schema: { type: 'object' } })
  expect(answer('circle')).not.toHaveProperty('example')
  expect(post('long')?.summary).toHaveLength(120)
  expect(post('long')?.description.length).toBeLessThan(2_100)
  expect(answer('big')).toEqual({})
  expect(post('a-b')?.operationId).not.toBe(post('a/b')?.operationId)
  expect(post('transformed')?.requestBody?.content['application/json']).toMatchObject({ schema: { type: 'object' } })
})

test('modules with the name of another one or of an area have tags of their own', async () => {
  const same = (id: string) => HELLO.replaceAll('/hello/', `/${id}/`)
  const app = await appWithModules({ settings2: same('settings2'), other: same('other') })
  await app.db.run(`UPDATE modules SET name = 'settings' WHERE id IN ('settings2', 'other')`)

  const { tags } = await documentOf(app)
  expect(tags.slice(-2).map(({ name }) => name)).toEqual(['settings (other)', 'settings (settings2)'])
})

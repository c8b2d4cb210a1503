import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage } from 'node:http'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { json } from './verdict.ts'

/** A correct answer of a toy service, before a test changes it. */
export interface ToyAnswer {
  status: number
  headers: Record<string, string>
  body: unknown
}

/** Changes the correct answer of an operation into a wrong one, or returns it unchanged. */
export type Spoil = (name: string, answer: ToyAnswer) => ToyAnswer

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })

const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }
const answers = (schema: object) => ({ headers: REQUEST_ID, content: { 'application/json': { schema } } })
const refuses = (headers: object, ...codes: string[]) => ({
  headers: { ...REQUEST_ID, ...headers },
  content: {
    'application/json': {
      schema: object({ error: { type: 'string' }, code: { enum: codes } }, { required: ['error', 'code'] }),
    },
  },
})
const TOKEN = [{ token: [] }]
const REFUSALS = {
  400: refuses({}, 'invalid'),
  401: refuses({}, 'unauthenticated'),
  413: refuses({}, 'too_large'),
  429: refuses({ 'Retry-After': { required: true, schema: { type: 'integer' } } }, 'too_often'),
  431: refuses({}, 'headers'),
}
const MISSING = { 404: refuses({}, 'missing') }
const ID = { name: 'id', in: 'path', required: true, schema: ref('ItemId') }
const LIMIT = { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 50 } }

/** A test that plants a fault may change the paths. */
export const TOY_DOCUMENT = {
  openapi: '3.1.0',
  paths: {
    '/items': {
      get: {
        security: TOKEN,
        parameters: [LIMIT],
        responses: { 200: answers({ type: 'array', items: ref('Item') }), ...REFUSALS },
      },
      post: {
        security: TOKEN,
        'x-rate-limit': { limit: 5, seconds: 60, by: 'address' },
        requestBody: { content: { 'application/json': { schema: ref('NewItem') } } },
        responses: { 201: answers(object({ id: ref('ItemId') }, { required: ['id'] })), ...REFUSALS },
      },
    },
    '/items/{id}': {
      get: { security: TOKEN, parameters: [ID], responses: { 200: answers(ref('Item')), ...REFUSALS, ...MISSING } },
      delete: {
        security: TOKEN,
        'x-role': 'admin',
        parameters: [ID],
        responses: { 200: answers(object({})), ...REFUSALS, ...MISSING, 403: refuses({}, 'forbidden') },
      },
    },
  },
  components: {
    schemas: {
      ItemId: { type: 'string', pattern: '^item-[0-9]{9}$' },
      Item: object(
        { id: ref('ItemId'), name: { type: 'string' }, size: { type: 'number' } },
        { required: ['id', 'name'] },
      ),
      NewItem: object(
        {
          name: { type: 'string', minLength: 1, maxLength: 20 },
          size: { type: 'integer', minimum: 0, maximum: 9 },
          color: { enum: ['red', 'green'] },
        },
        { required: ['name'], additionalProperties: false },
      ),
    },
    headers: { 'X-Request-Id': { required: true, schema: { type: 'string', format: 'uuid' } } },
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
  },
}

const NewItem = z.strictObject({
  name: z.string().min(1).max(20),
  size: z.int().min(0).max(9).optional(),
  color: z.enum(['red', 'green']).optional(),
})
const Limit = z.coerce.number().int().min(1).max(50)

/** A service that matches `TOY_DOCUMENT`, except for planted faults. */
export async function startToy(spoil: Spoil = (_, answer) => answer) {
  const items = new Map<string, z.infer<typeof NewItem>>()
  const asked = new Map<string, number>()
  let last = 100_000_000

  const add = (item: z.infer<typeof NewItem>) => {
    last += 1
    items.set(`item-${last}`, item)
    return `item-${last}`
  }
  add({ name: 'first' })
  const shown = (id: string) => {
    const { name = '', size } = items.get(id) ?? {}
    return { id, name, ...(size !== undefined && { size }) }
  }
  const list = (query: URLSearchParams): ToyAnswer => {
    const limit = query.has('limit') ? Limit.safeParse(query.get('limit') || 'none') : undefined
    return limit && !limit.success ? refusal(400, 'invalid') : good(200, [...items.keys()].map(shown))
  }
  const create = (address: string, body: string): ToyAnswer => {
    asked.set(address, (asked.get(address) ?? 0) + 1)
    if ((asked.get(address) ?? 0) > 5) return refusal(429, 'too_often', { 'Retry-After': '60' })
    if (body.length > 100_000) return refusal(413, 'too_large')
    const item = NewItem.safeParse(json(body))
    return item.success ? good(201, { id: add(item.data) }) : refusal(400, 'invalid')
  }
  const one = (method: string, id: string, isAdmin: boolean): ToyAnswer => {
    if (method === 'DELETE' && !isAdmin) return refusal(403, 'forbidden')
    if (!items.has(id)) return refusal(404, 'missing')
    if (method !== 'DELETE') return good(200, shown(id))
    items.delete(id)
    return good(200, {})
  }
  const route = (request: IncomingMessage, body: string): [name: string, answer: ToyAnswer] => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://toy')
    const [, , id] = pathname.split('/')
    const { method = '', headers } = request
    const name = `${method} ${id === undefined ? '/items' : '/items/{id}'}`
    const who = headers.authorization
    if (who !== 'Bearer user' && who !== 'Bearer admin') return [name, refusal(401, 'unauthenticated')]
    if (!pathname.startsWith('/items')) return [name, refusal(404, 'missing')]
    if (id !== undefined) return [name, one(method, decodeURIComponent(id), who === 'Bearer admin')]
    return [name, method === 'GET' ? list(searchParams) : create(String(headers['x-address']), body)]
  }
  const server = createServer({ maxHeaderSize: 1 << 20 }, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const isLong = String(request.headers['x-padding']).length > 10_000
    const [name, answer] = isLong ? ['', refusal(431, 'headers')] : route(request, Buffer.concat(chunks).toString())
    const { status, headers, body } = spoil(name, answer)
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`, agent }
}

const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Request-Id': '0b9c3f6e-6f0a-4a49-9f50-6f6f2b1f5a31',
}

function good(status: number, body: unknown): ToyAnswer {
  return { status, headers: HEADERS, body }
}

export function refusal(status: number, code: string, headers: Record<string, string> = {}): ToyAnswer {
  return { status, headers: { ...HEADERS, ...headers }, body: { error: 'Non.', code } }
}

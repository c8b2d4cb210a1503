import { expect, test } from 'vitest'
import * as z from 'zod'
import { functions, sockets } from '../../../functions/index.ts'
import { framesTaken } from '../../../openapi/asyncapi.ts'
import { CLOSE } from '../../../runtime/socket.ts'
import { testApp } from '../../app.ts'
import { lint } from '../../lint.ts'
import { answered } from '../answers.ts'

const Message = z.object({
  summary: z.string(),
  contentType: z.string(),
  payload: z.unknown(),
  examples: z.array(z.object({ payload: z.unknown() })).optional(),
})
const Channel = z.object({
  address: z.string(),
  summary: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.object({ description: z.string(), examples: z.array(z.string()) })).default({}),
  messages: z.record(z.string(), Message),
  bindings: z.object({
    ws: z.object({ query: z.object({ properties: z.record(z.string(), z.unknown()) }).optional() }),
  }),
  'x-auth': z.string(),
  'x-subprotocol': z.literal('panel.v1'),
  'x-close-codes': z.array(z.object({ code: z.number(), reason: z.string(), description: z.string() })),
})
const AsyncApi = z.looseObject({
  asyncapi: z.literal('3.0.0'),
  channels: z.record(z.string(), Channel),
  operations: z.record(
    z.string(),
    z.object({
      action: z.enum(['send', 'receive']),
      channel: z.object({ $ref: z.string() }),
      messages: z.array(z.object({ $ref: z.string() })),
    }),
  ),
})

const app = await testApp(functions)
const served = await answered(await app.request('GET', '/api/asyncapi.json'), 200)
const document = AsyncApi.parse(served)
const named = sockets.map((socket) => [socket.path, socket] as const)

function channelOf(path: string) {
  const address = path.replace(/:(\w+)/g, '{$1}')
  const [found] = Object.entries(document.channels).filter(([, channel]) => channel.address === address)
  if (!found) throw new Error(`${path} is not in the document`)
  return { name: found[0], ...found[1] }
}

test('the document lists every socket and nothing else', () => {
  const addresses = Object.values(document.channels).map(({ address }) => address.replace(/\{(\w+)\}/g, ':$1'))

  expect(addresses.sort()).toEqual(named.map(([path]) => path).sort())
})

test('the document is the same each time', async () => {
  expect(await answered(await app.request('GET', '/api/asyncapi.json'), 200)).toEqual(served)
})

test.each(named)('%s has its frames in both directions, with an example of each text frame', (path, socket) => {
  const { name, messages } = channelOf(path)
  const taken = framesTaken(socket)
  const of = (action: string) =>
    Object.values(document.operations)
      .filter((each) => each.action === action && each.channel.$ref === `#/channels/${name}`)
      .flatMap((each) => each.messages.map(({ $ref }) => $ref.replace(`#/channels/${name}/messages/`, '')))

  expect(of('send')).toEqual(Object.keys(socket.sends))
  expect(of('receive')).toEqual(Object.keys(taken))
  for (const [frame, { schema, example }] of Object.entries({ ...socket.sends, ...taken })) {
    const message = messages[frame]
    expect(message?.contentType).toBe(schema ? 'application/json' : 'application/octet-stream')
    expect(message?.examples).toEqual(schema && [{ payload: example }])
    // Undeclared fields would be cut off.
    if (schema) expect(schema.parse(example)).toEqual(example)
  }
})

test.each(named)('%s has its parameters and its access rule', (path, { request, auth }) => {
  const { parameters, bindings, ...channel } = channelOf(path)

  expect(Object.keys(parameters)).toEqual(Object.keys(request?.params?.shape ?? {}))
  expect(Object.keys(bindings.ws.query?.properties ?? {})).toEqual(Object.keys(request?.query?.shape ?? {}))
  expect(channel['x-auth']).toBe(auth)
})

test.each(named)('%s lists its close codes with their meaning', (path, { closes }) => {
  const found = channelOf(path)['x-close-codes'].map(({ code }) => code)

  const every = ['stopping', 'failed', 'unauthenticated', 'forbidden'] as const
  const own = Object.keys(CLOSE).filter((reason): reason is keyof typeof CLOSE => reason in closes)
  for (const reason of [...every, ...own]) expect(found).toContain(CLOSE[reason])
  expect(found).toEqual([...found].sort((a, b) => a - b))
})

test('the linter accepts the document', async () => {
  expect(await lint(Object(served))).toEqual([])
})

test('the linter finds a dangling reference, and a channel without an address', async () => {
  const text = JSON.stringify(served)

  expect(
    await lint(JSON.parse(text.replaceAll('#/components/schemas/JobId', '#/components/schemas/Nothing'))),
  ).not.toEqual([])
  expect(await lint(JSON.parse(text.replace('"address"', '"adress"')))).not.toEqual([])
})

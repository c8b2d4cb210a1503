import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { readAsyncApi } from './asyncapi.ts'
import { createPool } from './pool.ts'
import { createSocketDriver } from './socket-driver.ts'

const DOCUMENT = {
  asyncapi: '3.0.0',
  channels: {
    ticks: {
      address: '/ws/ticks',
      messages: {
        tick: {
          contentType: 'application/json',
          payload: {
            type: 'object',
            properties: { type: { const: 'tick' }, at: { type: 'integer' } },
            required: ['type', 'at'],
          },
        },
        stop: {
          contentType: 'application/json',
          payload: { type: 'object', properties: { type: { const: 'stop' } }, required: ['type'] },
        },
      },
      bindings: { ws: {} },
      'x-auth': 'none',
      'x-subprotocol': 'toy.v1',
      'x-close-codes': [{ code: 1000 }],
    },
  },
  operations: {
    sendTicks: {
      action: 'send',
      channel: { $ref: '#/channels/ticks' },
      messages: [{ $ref: '#/channels/ticks/messages/tick' }],
    },
    receiveTicks: {
      action: 'receive',
      channel: { $ref: '#/channels/ticks' },
      messages: [{ $ref: '#/channels/ticks/messages/stop' }],
    },
  },
  components: {},
}

/** Drives a toy service that sends these frames over each socket. */
async function drive(says: (ws: WebSocket) => void) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => void server.close())
  server.on('connection', (ws) => {
    ws.on('error', () => {})
    says(ws)
  })
  await once(server, 'listening')
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`
  const asyncapi = readAsyncApi(DOCUMENT)
  const given = { tokens: { user: ['user'], admin: ['admin'] }, cookies: {}, values: {} }
  const [channel] = asyncapi.channels
  if (!channel) throw new Error('no channel')
  const driver = createSocketDriver(url, asyncapi, { given, pool: createPool({}) })
  return driver.drive(channel, { runs: 3, seed: 7, shrink: false })
}

test('a socket that sends what its document declares passes', async () => {
  const { messages, codes } = await drive((ws) => {
    ws.send('{"type":"tick","at":1}')
    ws.close(1000)
  })

  expect([...messages]).toEqual([['tick', 3]])
  expect([...codes]).toEqual([[1000, 3]])
})

test.each<[what: string, says: (ws: WebSocket) => void, complaint: string]>([
  ['a frame with a field more', (ws) => ws.send('{"type":"tick","at":1,"x":1}'), '"additionalProperty":"x"'],
  ['a frame with a field less', (ws) => ws.send('{"type":"tick"}'), "must have required property 'at'"],
  ['a frame with a field of another type', (ws) => ws.send('{"type":"tick","at":"1"}'), '/at must be integer'],
  ['a frame that only a client may send', (ws) => ws.send('{"type":"stop"}'), 'declares no such frame'],
  ['a frame that is no JSON', (ws) => ws.send('tick'), 'declares no such frame'],
  ['a binary frame', (ws) => ws.send(Buffer.from('tick')), 'no such frame (application/octet-stream)'],
  ['a connection that is cut', (ws) => ws.terminate(), 'does not declare that it is closed with 1006'],
  ['a code that is not declared', (ws) => ws.close(4000), 'does not declare that it is closed with 4000'],
])('%s is found', async (_, says, complaint) => {
  const error = await drive(says).catch((reason: unknown) => reason)

  expect(error instanceof Error && error.cause instanceof Error && error.cause.message).toContain(complaint)
})

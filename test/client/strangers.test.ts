import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import * as z from 'zod'
import { createPanel, type Panel } from '../../client/index.ts'

const OUTPUT = { type: 'update_output', topic: 'update:1', seq: 3, data: { chunk: 'abc' } }
const DONE = { type: 'update_done', topic: 'update:1', seq: 3, data: { job_id: '1' } }

/** A server that answers in the place of the service, with the requests that it received. */
async function withStranger(talk: (socket: WebSocket) => void = () => {}, page?: string) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.setHeader('content-type', page ? 'text/html' : 'application/json')
    const rest = { chunk: 'abc', offset: 0, next_offset: 3, ended: true, status: 'done' }
    response.end(page ?? JSON.stringify({ access_token: 'token', expires_in: 900, ...rest }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'panel.v1' }).on('connection', talk)
  onTestFinished(() => {
    sockets.close()
    server.close()
    server.closeAllConnections()
  })
  const { port } = z.object({ port: z.number() }).parse(server.address())
  const url = `http://127.0.0.1:${port}`
  return { panel: createPanel({ url }), asked, url }
}

async function told(panel: Panel): Promise<string[]> {
  await panel.signIn('alice', 'secret')
  const types: string[] = []
  for await (const { type } of panel.follow('update:1')) types.push(type)
  return types
}

test.each(['no JSON', Buffer.from('{}')])('a foreign frame throws nowhere: %s', async (frame) => {
  const { panel } = await withStranger((socket) => socket.send(frame))

  expect(await told(panel)).toEqual(['update_output', 'update_done'])
})

test('an unknown kind of frame neither ends the follow nor loses later events', async () => {
  const { panel } = await withStranger((socket) => {
    for (const frame of [{ type: 'later' }, OUTPUT, { type: 'later' }, DONE]) socket.send(JSON.stringify(frame))
  })

  expect(await told(panel)).toEqual(['update_output', 'update_done'])
})

test('an HTML page instead of an answer is an error', async () => {
  const { panel } = await withStranger(undefined, '<p>Sign in to the proxy</p>')

  await expect(panel.signIn('alice', 'secret')).rejects.toMatchObject({ status: 200, code: 'unexpected_answer' })
})

test.each(['..', '.', ''])('a parameter that would reach another operation is not sent: "%s"', async (id) => {
  const { panel, asked } = await withStranger()

  const answer = panel.api('GET /api/updates/jobs/{id}', { params: { id } })

  await expect(answer).rejects.toMatchObject({ code: 'invalid_request' })
  expect(asked).toEqual([])
})

test('a redirect is not followed, because it could carry the password to another server', async () => {
  const elsewhere = await withStranger()
  const server = createServer((_, response) => {
    response.writeHead(307, { location: `${elsewhere.url}/api/auth/login` }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port: from } = z.object({ port: z.number() }).parse(server.address())

  await expect(createPanel({ url: `http://127.0.0.1:${from}` }).signIn('alice', 'secret')).rejects.toMatchObject({
    code: 'network_failed',
  })

  expect(elsewhere.asked).toEqual([])
})

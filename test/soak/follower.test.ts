import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { createFindings } from './findings.ts'
import { followByPolling, followBySocket } from './follower.ts'
import { createLine } from './traffic.ts'
import { createWeather } from './weather.ts'

/** Starts a server that serves the given connections and answers in turn, and makes a follower of it. */
async function followerOf({
  connections = [],
  answers = [],
}: {
  connections?: ((socket: WebSocket) => void)[]
  answers?: object[]
}) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answers.shift()))
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, request) => {
    asked.push(request.url ?? '')
    const serve = connections.shift()
    if (serve) serve(socket)
    else socket.terminate()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const findings = createFindings()
  const url = `http://127.0.0.1:${address.port}`
  const world = { url, weather: createWeather(), findings, count: () => {} }
  const line = createLine(world, '10.66.0.1')
  onTestFinished(line.close)
  const given = new AbortController()
  onTestFinished(() => given.abort())
  return {
    follower: { world, line, address: '10.66.0.1', token: () => 'token', cookie: () => '', given: given.signal },
    asked,
    findings,
  }
}

const output = (chunk: string, seq: number) => JSON.stringify({ type: 'update_output', seq, data: { chunk } })
const done = (seq: number) => JSON.stringify({ type: 'update_done', seq, data: { job_id: 'a' } })

function says(frames: readonly string[], end: (socket: WebSocket) => void = (socket) => socket.close(1000)) {
  return (socket: WebSocket) => {
    for (const frame of frames) socket.send(frame)
    end(socket)
  }
}
/** Cuts the connection once the data are sent. */
const cut = (socket: WebSocket) => socket.ping('', undefined, () => socket.terminate())

test('a follower resumes at its last byte after a cut, and gets the whole output', async () => {
  const connections = [says([output('été ', 6)], cut), says([output('ici', 9), done(9)])]
  const { follower, asked, findings } = await followerOf({ connections })

  expect(await followBySocket(follower, 'a')).toMatchObject({ size: 9, lost: 0, repeated: 0, finals: 1 })
  expect(asked).toEqual(['/ws/updates/a?from=0', '/ws/updates/a?from=6'])
  expect(findings.none()).toBe(true)
})

test('a follower counts bytes that are skipped or repeated after a cut, and repeated final events', async () => {
  const lossy = [says([output('ab', 2)], cut), says([output('d', 4), done(4)])]
  const repeating = [says([output('ab', 2)], cut), says([output('bc', 3), done(3)])]
  const stuttering = [says([output('ab', 2), done(2), done(2)])]
  const followed = async (connections: ((socket: WebSocket) => void)[]) =>
    followBySocket((await followerOf({ connections })).follower, 'a')

  expect(await followed(lossy)).toMatchObject({ lost: 1, repeated: 0 })
  expect(await followed(repeating)).toMatchObject({ lost: 0, repeated: 1 })
  expect(await followed(stuttering)).toMatchObject({ finals: 2 })
})

test.each([
  ['closes with 1000 without a final event', says([output('ab', 2)]), 'finals'],
  ['closes with an unexpected code', says([], (socket) => socket.close(4404)), 'unexpected'],
  ['sends an undeclared frame', says(['{"type":"update_output"}']), 'undeclared'],
] as const)('a follower reports a service that %s', async (_, connection, wrong) => {
  const { follower, findings } = await followerOf({ connections: [connection, says([output('ab', 2), done(2)])] })

  await followBySocket(follower, 'a')

  expect(findings.count(wrong)).toBeGreaterThan(0)
})

test('a poller reports a skipped byte, and a piece that is shorter than its stated length', async () => {
  const answers = [
    { chunk: 'ab', offset: 0, next_offset: 2, ended: false },
    { chunk: 'd', offset: 3, next_offset: 4, ended: false },
    { chunk: 'e', offset: 4, next_offset: 6, ended: true },
  ]
  const { follower, findings } = await followerOf({ answers })

  expect(await followByPolling(follower, 'a')).toMatchObject({ lost: 2, finals: 1, size: 6 })
  expect(findings.count('undeclared')).toBe(1)
})

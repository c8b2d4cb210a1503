import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startDemo } from './demo.ts'
import { issue, openSocket, startService } from '../serve/service.ts'
import { controlledOutput } from './upgrade-output.ts'

/** A service with a running job. */
async function running(env: Record<string, string> = {}) {
  const demo = await startDemo()
  const output = controlledOutput(demo)
  const service = await startService(demo, env)
  const id = await service.run('lxc:101')
  return { ...service, output, id, path: `/ws/updates/${id}` }
}

/** Sends a request unchanged and returns everything that arrives until the other side ends. */
async function raw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString()
  })
  socket.write(text)
  await once(socket, 'close')
  return answer
}

test('the service selects panel.v1, never the token', async () => {
  const { url, path, token } = await running()
  const socket = openSocket(url, path, { protocols: [`bearer.${token}`, 'panel.v1'] })

  await socket.opened

  expect(socket.ws.protocol).toBe('panel.v1')
})

test('a token in the header takes precedence over a subprotocol', async () => {
  const { url, path, token, output } = await running({ PANEL_ANONYMOUS_OUTPUT: 'off' })
  output.print('un\n')
  const header = openSocket(url, path, { token, by: 'header' })
  const both = openSocket(url, path, {
    protocols: ['panel.v1', `bearer.${token}`],
    headers: { authorization: 'Bearer wrong' },
  })

  await expect.poll(() => header.text()).toBe('un\n')
  expect(await both.end).toBe(4401)
  expect(both.events).toEqual([])
})

test('a token in the address is ignored', async () => {
  const { url, path, token } = await running({ PANEL_ANONYMOUS_OUTPUT: 'off' })

  expect(await openSocket(url, `${path}?token=${token}&access_token=${token}`).end).toBe(4401)
})

test.each(['wrong', 'a.b.c', ''])(
  'a bad token (%j) closes with 4401, also where anonymous clients may listen',
  async (token) => {
    const { url, path, output } = await running()
    output.print('un\n')

    const socket = openSocket(url, path, { token, by: 'header' })

    expect(await socket.end).toBe(4401)
    expect(socket.events).toEqual([])
  },
)

test('a socket ends with 4401 when the token that opened it expires', async () => {
  const { url, path, folder, output } = await running()
  const { token } = await issue(folder, 2)
  output.print('un\n')
  const socket = openSocket(url, path, { token })
  await expect.poll(() => socket.text()).toBe('un\n')

  expect(await socket.end).toBe(4401)
  expect(socket.text()).toBe('un\n')
  expect(await openSocket(url, path, { token }).end).toBe(4401)
})

test('a socket that receives a new token in time continues', async () => {
  const { url, path, folder, output } = await running()
  const { token } = await issue(folder, 3)
  const socket = openSocket(url, path, { token })
  await socket.opened
  socket.ws.send(JSON.stringify({ type: 'auth', token: (await issue(folder, 900)).token }))

  expect(await openSocket(url, path, { token }).end).toBe(4401)

  output.print('un\n')
  await expect.poll(() => socket.text()).toBe('un\n')
  expect(socket.closed()).toBeUndefined()
})

test('a foreign Origin is refused by HTTP 403, and no socket is opened', async () => {
  const { url, path, token } = await running({ PANEL_ORIGINS: 'https://panel.example' })
  const port = new URL(url).port

  for (const origin of [
    'https://evil.example',
    'null',
    `https://127.0.0.1:${port}`,
    'http://127.0.0.1',
    'https://panel.example.evil',
  ]) {
    const socket = openSocket(url, path, { token, headers: { origin } })
    await expect.poll(() => socket.refused()).toMatchObject({ status: 403 })
    expect(JSON.parse(socket.refused()?.body ?? '')).toMatchObject({ code: 'origin_forbidden' })
    expect(socket.refused()?.headers).toMatchObject({ 'x-request-id': expect.any(String) })
    await expect(socket.opened).rejects.toThrow()
  }
})

test('the service’s own Origin and those of PANEL_ORIGINS are accepted', async () => {
  const { url, path, token } = await running({ PANEL_ORIGINS: 'https://panel.example' })

  for (const origin of [url, 'https://panel.example'])
    await openSocket(url, path, { token, headers: { origin } }).opened
  const behindTls = { origin: url.replace('http:', 'https:'), 'x-forwarded-proto': 'https' }
  await openSocket(url, path, { token, headers: behindTls }).opened
})

test('an unknown path is answered with 404, in JSON', async () => {
  const { url, token } = await running()

  for (const path of ['/ws/nothing', '/ws/updates', '/ws/updates/', '/ws/updates/1/2', '/api/health', '/']) {
    const socket = openSocket(url, path, { token })
    await expect.poll(() => socket.refused()).toMatchObject({ status: 404 })
    expect(JSON.parse(socket.refused()?.body ?? '')).toMatchObject({ code: 'not_found' })
  }
})

test('a frame over 64 KiB closes the socket; a smaller one does not', async () => {
  const { url, path, token, output } = await running()
  const [small, large] = [openSocket(url, path, { token }), openSocket(url, path, { token })]
  await Promise.all([small.opened, large.opened])

  small.ws.send('x'.repeat(64 * 1024))
  large.ws.send('x'.repeat(64 * 1024 + 1))

  expect(await large.end).toBe(1009)
  output.print('un\n')
  await expect.poll(() => small.text()).toBe('un\n')
})

test('an upgrade to a protocol other than WebSocket is ignored: the request is answered', async () => {
  const { url } = await running()

  const asked = request(`${url}/api/health`, { headers: { connection: 'Upgrade', upgrade: 'h2c' } })
  asked.end()
  const [response] = await once(asked, 'response')

  expect(response.statusCode).toBe(200)
  response.resume()
})

test.each([
  ['without a key', 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n', /^HTTP\/1\.1 4\d\d /],
  [
    'of another version',
    'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 1\r\n',
    /^HTTP\/1\.1 4\d\d /,
  ],
  ['of another kind', 'Upgrade: foo\r\nConnection: Upgrade, close\r\n', /^HTTP\/1\.1 404 /],
])('an upgrade %s is answered and closed', async (_, headers, expected) => {
  const { url, path } = await running()

  expect(await raw(url, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`)).toMatch(expected)
})

test('the service survives clients that break off in the middle of an upgrade', async () => {
  const { url, path, request: ask } = await running()
  const { hostname, port } = new URL(url)
  for (let round = 0; round < 20; round += 1) {
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    )
    socket.resetAndDestroy()
  }

  expect((await ask('GET', '/api/health')).status).toBe(200)
})

test('stopping closes every socket with 1001 within 5 s, also an unresponsive one, and lets the job continue', async () => {
  const { url, path, token, stop, output } = await running()
  const [one, two, deaf] = [openSocket(url, path, { token }), openSocket(url, path), openSocket(url, path, { token })]
  await Promise.all([one.opened, two.opened, deaf.opened])
  output.print('un\n')
  await expect.poll(() => one.text()).toBe('un\n')
  deaf.ws.pause()
  const started = performance.now()

  await stop()

  expect(performance.now() - started).toBeLessThan(5_000)
  expect([await one.end, await two.end]).toEqual([1001, 1001])
  expect(one.events.map(({ type }) => type)).toEqual(['update_output'])
  await expect(fetch(`${url}/api/health`)).rejects.toThrow()
})

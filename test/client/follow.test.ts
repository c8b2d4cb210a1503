import { expect, test } from 'vitest'
import { WebSocket as WsSocket } from 'ws'
import { createPanel } from '../../client/index.ts'
import { freePort } from '../free-port.ts'
import { issue, startService } from '../serve/service.ts'
import { seedOf } from '../rounds.ts'
import { randomFrom } from './cutting-proxy.ts'
import { followed, outputOf, signedIn, upgrade } from './signed-in.ts'

/** Reconnecting takes its time, up to fifteen seconds a turn. */
const LONG = 90_000
const WAIT = { timeout: 60_000, interval: 10 }
const SOCKET = 'GET /ws/'
const POLL = '/output'

/** Lines of one to four bytes a character, so that a wrong offset shows. */
const line = (n: number) => `Paramétrage de paquet-${n} (1.${n}) … ✓ 🐧\r\n`

test.each([
  ['the global WebSocket', {}],
  ['the one of ws', { WebSocket: WsSocket }],
])(
  '%s: with cuts at random bytes, follow yields each byte of the output endpoint once',
  { timeout: LONG },
  async (_, options) => {
    const random = randomFrom(seedOf('test/client/follow.test.ts', 'whole'))
    const { printed, proxy, panel } = await signedIn(options)
    const id = await upgrade(panel)
    // The first bytes are the handshake's.
    proxy.cut = (asked) => (asked.startsWith(SOCKET) && proxy.cuts < 6 ? 140 + Math.floor(random() * 4_000) : undefined)

    const follower = followed(panel, id)
    for (let n = 0; proxy.cuts < 6; n += 1) {
      printed.print(line(n))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    printed.end()
    await follower.ended

    expect(follower.text()).toBe(await outputOf(panel, id))
    expect(follower.text()).toContain(printed.text())
    expect(follower.events.at(-1)).toMatchObject({ type: 'update_done', data: { job_id: id } })
    let at = 0
    for (const event of follower.events) {
      if (event.type === 'update_output') at += Buffer.byteLength(event.data.chunk)
      expect(event.seq).toBe(at)
    }
    const sockets = proxy.lines.filter((asked) => asked.startsWith(SOCKET))
    // The service does not repeat bytes that the client already has.
    expect(sockets.at(-1)).toMatch(/\?from=[1-9]\d+ /)
    expect(proxy.open(SOCKET)).toBe(0)
  },
)

test('without sockets the client polls and yields the same events', { timeout: LONG }, async () => {
  const { printed, proxy, panel } = await signedIn({ WebSocket: false })
  const id = await upgrade(panel)
  const follower = followed(panel, id)
  printed.print(line(1))
  await expect.poll(follower.text, WAIT).toContain(line(1))
  printed.print(line(2))
  printed.end()
  await follower.ended

  expect(follower.text()).toBe(await outputOf(panel, id))
  expect(follower.states).toEqual(['polling'])
  expect(follower.events.at(-1)).toMatchObject({
    type: 'update_done',
    topic: `update:${id}`,
    seq: Buffer.byteLength(follower.text()),
  })
  expect(proxy.lines.filter((asked) => asked.startsWith(SOCKET))).toEqual([])
})

test('after three refused sockets the client polls from the same byte, then returns to a socket', {
  timeout: LONG,
}, async () => {
  const { printed, proxy, panel } = await signedIn()
  const id = await upgrade(panel)
  const follower = followed(panel, id)
  printed.print(line(1))
  await expect.poll(follower.text, WAIT).toContain(line(1))

  proxy.cut = (asked) => (asked.startsWith(SOCKET) ? 1 : undefined)
  proxy.cutNow(SOCKET)
  printed.print(line(2))
  await expect.poll(() => follower.states, WAIT).toContain('polling')
  await expect.poll(follower.text, WAIT).toContain(line(2))
  expect(proxy.lines.filter((asked) => asked.includes(POLL)).length).toBeGreaterThan(0)

  proxy.cut = () => undefined
  await expect.poll(() => follower.states.at(-1), WAIT).toBe('live')
  printed.print(line(3))
  printed.end()
  await follower.ended

  expect(follower.text()).toBe(await outputOf(panel, id))
  expect(follower.states).toEqual([
    'connecting',
    'live',
    'waiting',
    'connecting',
    'waiting',
    'connecting',
    'waiting',
    'connecting',
    'polling',
    'live',
  ])
})

test('following continues across a restart of the service', { timeout: LONG }, async () => {
  const port = await freePort()
  const { demo, printed, service, panel } = await signedIn({}, { PANEL_PORT: String(port) })
  const id = await upgrade(panel)
  const follower = followed(panel, id)
  printed.print(line(1))
  await expect.poll(follower.text, WAIT).toContain(line(1))

  await service.stop()
  await startService(demo, { PANEL_PORT: String(port), PANEL_DATA_DIR: service.folder })
  printed.print(line(2))
  printed.end()
  await follower.ended

  expect(follower.text()).toBe(await outputOf(panel, id))
  expect(follower.text()).toContain(printed.text())
  expect(follower.states.slice(0, 3)).toEqual(['connecting', 'live', 'waiting'])
})

test('the client sends a renewed token over the socket, which outlives its first token', {
  timeout: LONG,
}, async () => {
  const { printed, service, proxy } = await signedIn()
  const tokens: string[] = []
  const shortLived = shortLivedTokens(service.folder, 10, tokens)
  const panel = createPanel({ url: proxy.url, fetch: shortLived })
  await panel.signIn('demo', 'demo')
  const id = await upgrade(panel)
  const follower = followed(panel, id)
  await expect.poll(() => follower.states, WAIT).toContain('live')

  // Each lives for ten seconds and is renewed after five: the one that opened the socket is no longer good.
  await expect.poll(() => tokens.length, WAIT).toBeGreaterThanOrEqual(4)
  printed.print(line(1))
  printed.end()
  await follower.ended

  expect(follower.states).toEqual(['connecting', 'live'])
  expect(proxy.lines.filter((asked) => asked.startsWith(SOCKET)).length).toBe(1)
  expect(follower.text()).toBe(await outputOf(panel, id))
})

test('a token that expires mid-job costs one refresh and no byte', { timeout: LONG }, async () => {
  const { printed, service, proxy } = await signedIn()
  const { token: expiring } = await issue(service.folder, 8)
  let refreshes = 0
  const panel = createPanel({
    url: proxy.url,
    fetch: async (url, init) => {
      if (url.endsWith('/refresh')) refreshes += 1
      const answer = await fetch(url, init)
      if (!url.endsWith('/login')) return answer
      // The service knows better than the client how long it lives.
      return Response.json({ access_token: expiring, expires_in: 900 }, { headers: answer.headers })
    },
  })
  await panel.signIn('demo', 'demo')
  const id = await upgrade(panel)
  const followers = [followed(panel, id), followed(panel, id), followed(panel, id)]
  printed.print(line(1))
  for (const { text } of followers) await expect.poll(text, WAIT).toContain(line(1))

  await expect.poll(() => refreshes, WAIT).toBe(1)
  printed.print(line(2))
  printed.end()

  for (const follower of followers) {
    await follower.ended
    expect(follower.text()).toBe(await outputOf(panel, id))
    expect(follower.states).toEqual(['connecting', 'live', 'connecting', 'live'])
  }
  expect(refreshes).toBe(1)
})

test('a slow reader keeps little in memory and misses nothing', { timeout: LONG }, async () => {
  const { printed, proxy, panel } = await signedIn()
  const id = await upgrade(panel)
  // Some 320 events of 32 KiB, more than the client keeps for a reader that does not take them.
  const block = line(1).repeat(20_000)
  for (let n = 0; n < 9; n += 1) printed.print(block)
  printed.end()
  await expect
    .poll(async () => (await panel.api('GET /api/updates/jobs/{id}', { params: { id } })).status, WAIT)
    .toBe('success')
  let text = ''

  for await (const event of panel.follow(`update:${id}`)) {
    if (event.type !== 'update_output') continue
    // The reader takes no events meanwhile.
    if (text === '') await expect.poll(() => proxy.open(SOCKET), WAIT).toBe(0)
    text += event.data.chunk
  }

  expect(text).toBe(await outputOf(panel, id))
  expect(proxy.lines.filter((asked) => asked.startsWith(SOCKET)).length).toBeGreaterThan(1)
})

/** The service's answers, with tokens that live for a few seconds in the place of its own. */
function shortLivedTokens(folder: string, seconds: number, issued: string[]) {
  return async (url: string, init: RequestInit) => {
    const answer = await fetch(url, init)
    if (!/\/(login|refresh)$/.test(url)) return answer
    const { token } = await issue(folder, seconds)
    issued.push(token)
    return Response.json({ access_token: token, expires_in: seconds }, { headers: answer.headers })
  }
}

import { expect, test } from 'vitest'
import type { OpenedSocket, Panel } from '../../client/index.ts'
import { signedIn } from './signed-in.ts'

/** A terminal of the host, with what it shows. */
async function openTerminal(panel: Panel) {
  const socket: OpenedSocket = await panel.open('/ws/terminal?target=host')
  socket.binaryType = 'arraybuffer'
  let text = ''
  let closed: number | undefined
  socket.addEventListener('message', ({ data }) => {
    if (data instanceof ArrayBuffer) text += Buffer.from(data).toString()
  })
  socket.addEventListener('close', ({ code }) => {
    closed = code
  })
  const type = (line: string) => socket.send(new TextEncoder().encode(line))
  return { type, text: () => text, closed: () => closed }
}

const PROMPT = '# '

test('openSocket sends each new token over the same socket', async () => {
  const told: string[] = []
  class Heard extends WebSocket {
    override send(data: string | Uint8Array<ArrayBuffer>): void {
      if (typeof data === 'string') told.push(data)
      super.send(data)
    }
  }
  let renewed = ''
  const { panel } = await signedIn({
    WebSocket: Heard,
    async fetch(url, init) {
      const answer = await fetch(url, init)
      const { headers } = answer
      const body = await answer.text()
      if (url.endsWith('/api/auth/refresh')) renewed = JSON.parse(body).access_token
      // The first is to be renewed at once.
      return new Response(url.endsWith('/login') ? body.replace('"expires_in":900', '"expires_in":1') : body, {
        headers,
        status: answer.status,
      })
    },
  })
  const terminal = await openTerminal(panel)
  await expect.poll(terminal.text).toContain(PROMPT)

  await expect.poll(() => told).toHaveLength(1)
  terminal.type('hostname\r')

  await expect.poll(terminal.text).toMatch(/hostname\r\npve\r\n/)
  expect(told).toEqual([JSON.stringify({ type: 'auth', token: renewed })])
  expect(terminal.closed()).toBeUndefined()
})

test('openSocket closes the socket when the session ends', async () => {
  const { panel } = await signedIn()
  const terminal = await openTerminal(panel)
  await expect.poll(terminal.text).toContain(PROMPT)

  await panel.signOut()

  await expect.poll(terminal.closed).toBeDefined()
})

test('openSocket fails without a session', async () => {
  const { panel } = await signedIn()
  await panel.signOut()

  await expect(panel.open('/ws/terminal?target=host')).rejects.toMatchObject({ code: 'unauthenticated', status: 401 })
})

test('openSocket fails without a WebSocket', async () => {
  const { panel } = await signedIn({ WebSocket: false })

  await expect(panel.open('/ws/terminal?target=host')).rejects.toMatchObject({ code: 'sockets_missing' })
})

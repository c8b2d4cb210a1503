import { expect, test } from 'vitest'
import * as z from 'zod'
import { createPanel } from '../../client/index.ts'
import { startDemo } from '../runtime/demo.ts'
import { startService } from '../serve/service.ts'
import { controlledOutput } from '../runtime/upgrade-output.ts'

const Login = z.object({ access_token: z.string() })
const Made = z.object({ id: z.number(), token: z.string() })

/** A client with an API token of the demo's administrator, which counts what it sends. */
async function start(wanted: object = {}) {
  const demo = await startDemo()
  const printed = controlledOutput(demo)
  const { url } = await startService(demo)
  const send = (method: string, path: string, { token, body }: { token?: string; body?: object }) =>
    fetch(url + path, {
      method,
      headers: { ...(token && { authorization: `Bearer ${token}` }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const login = await send('POST', '/api/auth/login', { body: { username: 'demo', password: 'demo' } })
  const { access_token } = Login.parse(await login.json())
  const body = { name: 'client', role: 'operator', targets: 'all', ...wanted }
  const { id, token } = Made.parse(await (await send('POST', '/api/auth/tokens', { token: access_token, body })).json())
  const asked: string[] = []
  let refused = 0
  const panel = createPanel({
    url,
    token,
    fetch(address, init) {
      asked.push(`${init.method} ${address.slice(url.length)}`)
      return fetch(address, init)
    },
    onSignedOut: () => {
      refused += 1
    },
  })
  return {
    panel,
    printed,
    asked,
    refused: () => refused,
    revoke: () => send('DELETE', `/api/auth/tokens/${id}`, { token: access_token }),
  }
}

test('a client with a token starts an upgrade and follows it without signing in', async () => {
  const { panel, printed, asked } = await start()

  const { job_id } = await panel.api('POST /api/updates/run', { body: { target: 'host' } })
  const text: string[] = []
  const following = (async () => {
    for await (const event of panel.follow(`update:${job_id}`))
      if (event.type === 'update_output') text.push(event.data.chunk)
  })()
  printed.print('first line\n')
  printed.end()
  await following

  expect(text.join('')).toContain('first line\n')
  expect(asked.filter((each) => each.includes('/api/auth/'))).toEqual([])
})

test('a refused token is final: it is told once, nothing is renewed, and following ends', async () => {
  const { panel, asked, refused, revoke, printed } = await start()
  const { job_id } = await panel.api('POST /api/updates/run', { body: { target: 'host' } })
  const following = (async () => {
    for await (const event of panel.follow(`update:${job_id}`)) expect(event.type).toBe('update_output')
  })()
  const ended = expect(following).rejects.toMatchObject({ status: 401, code: 'unauthenticated' })
  printed.print('first line\n')

  expect((await revoke()).status).toBe(200)
  await ended

  const [one, two] = await Promise.allSettled([panel.api('GET /api/auth/me'), panel.api('GET /api/auth/me')])
  expect(one).toMatchObject({ status: 'rejected', reason: { status: 401, code: 'unauthenticated' } })
  expect(two).toMatchObject({ status: 'rejected', reason: { status: 401, code: 'unauthenticated' } })
  await expect(panel.open('/ws/checks')).rejects.toMatchObject({ status: 401 })
  expect(refused()).toBe(1)
  expect(asked.filter((each) => each.includes('refresh'))).toEqual([])
  printed.end()
})

test('what a token may not do fails with the code of its refusal, and the token stays', async () => {
  const { panel, refused } = await start({ role: 'viewer' })

  await expect(panel.api('POST /api/updates/run', { body: { target: 'host' } })).rejects.toMatchObject({
    status: 403,
    code: 'forbidden',
  })

  expect(await panel.api('GET /api/auth/me')).toMatchObject({ username: 'demo' })
  expect(refused()).toBe(0)
})

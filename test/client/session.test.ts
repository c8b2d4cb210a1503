import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ApiError, createPanel, isFailure } from '../../client/index.ts'
import { startDemo } from '../runtime/demo.ts'
import { issue, startService } from '../serve/service.ts'

/** A client of a running service that counts its requests; `answer` may replace an answer of the service. */
async function client(answer: (url: string, real: () => Promise<Response>) => Promise<Response> = (_, real) => real()) {
  const service = await startService(await startDemo())
  const asked: string[] = []
  let signedOut = 0
  let renewed = 0
  const panel = createPanel({
    url: service.url,
    fetch: (url, init) => {
      asked.push(`${init.method} ${url.slice(service.url.length)}`)
      return answer(url, () => fetch(url, init))
    },
    onSignedOut: () => {
      signedOut += 1
    },
    onRenewed: () => {
      renewed += 1
    },
  })
  const count = (operation: string) => asked.filter((each) => each === operation).length
  return { service, panel, count, signedOut: () => signedOut, renewed: () => renewed }
}

const REFRESH = 'POST /api/auth/refresh'

/** Makes the token of the sign-in expire at once, unknown to the client. */
const expired = async (folder: string, real: () => Promise<Response>) => {
  const { headers } = await real()
  const { token } = await issue(folder, -1)
  return Response.json({ access_token: token, expires_in: 900 }, { headers })
}

/** A new client whose token has expired without its knowledge. */
async function withExpiredToken() {
  let folder = ''
  const made = await client((url, real) => (url.endsWith('/login') ? expired(folder, real) : real()))
  folder = made.service.folder
  await made.panel.signIn('demo', 'demo')
  return made
}

test('twenty concurrent calls with an expired token share one refresh, and each gets its answer', async () => {
  const { panel, count } = await withExpiredToken()

  const answers = await Promise.all(Array.from({ length: 20 }, () => panel.api('GET /api/auth/me')))

  expect(answers.map(({ username }) => username)).toEqual(Array(20).fill('demo'))
  expect(count(REFRESH)).toBe(1)
  expect(count('GET /api/auth/me')).toBe(40)
  await panel.api('GET /api/auth/me')
  expect(count('GET /api/auth/me')).toBe(41)
})

test('each renewal is reported, because rights may have changed; a sign-in is not', async () => {
  const { panel, renewed } = await withExpiredToken()
  expect(renewed()).toBe(0)

  await Promise.all([panel.api('GET /api/auth/me'), panel.api('GET /api/auth/me')])

  expect(renewed()).toBe(1)
})

test('a token about to expire is renewed before use', async () => {
  const { panel, count } = await client(async (url, real) => {
    const answer = await real()
    if (!url.endsWith('/login')) return answer
    // A token may contain the digits of its own life.
    return new Response((await answer.text()).replace('"expires_in":900', '"expires_in":0'), {
      headers: answer.headers,
    })
  })
  await panel.signIn('demo', 'demo')

  await Promise.all([panel.api('GET /api/auth/me'), panel.api('GET /api/auth/sessions')])

  expect(count(REFRESH)).toBe(1)
  expect(count('GET /api/auth/me')).toBe(1)
})

test('resume restores the session of the cookie, and without a cookie nobody is signed in', async () => {
  const { panel, count, signedOut } = await client()
  expect(await panel.resume()).toBe(false)
  await panel.signIn('demo', 'demo')

  expect(await panel.resume()).toBe(true)
  await panel.signOut()
  expect(await panel.resume()).toBe(false)

  expect(count(REFRESH)).toBe(2)
  expect(signedOut()).toBe(0)
  await expect(panel.api('GET /api/auth/me')).rejects.toMatchObject({ status: 401, code: 'unauthenticated' })
})

test('renew gets a new token, once for concurrent callers', async () => {
  const { panel, count } = await client()
  await panel.signIn('demo', 'demo')

  expect(await Promise.all([panel.renew(), panel.renew()])).toEqual([true, true])

  expect(count(REFRESH)).toBe(1)
  await panel.signOut()
  expect(await panel.renew()).toBe(false)
})

test('signing out works locally while nothing answers', async () => {
  const { panel } = await client((url, real) => (url.endsWith('/logout') ? Promise.reject(new Error('away')) : real()))
  await panel.signIn('demo', 'demo')

  await expect(panel.signOut()).rejects.toMatchObject({ code: 'network_failed' })

  expect(await panel.resume()).toBe(false)
  await expect(panel.api('GET /api/auth/me')).rejects.toMatchObject({ code: 'unauthenticated' })
})

test('a session ended elsewhere is reported once, whatever the number of failing calls', async () => {
  const { service, panel, count, signedOut } = await withExpiredToken()
  const elsewhere = createPanel({ url: service.url })
  await elsewhere.signIn('demo', 'demo')
  for (const { id, is_current } of await elsewhere.api('GET /api/auth/sessions'))
    if (!is_current) await elsewhere.api('DELETE /api/auth/sessions/{id}', { params: { id } })

  const calls = await Promise.allSettled(Array.from({ length: 5 }, () => panel.api('GET /api/auth/me')))

  for (const call of calls)
    expect(call).toMatchObject({ status: 'rejected', reason: { status: 401, code: 'unauthenticated' } })
  expect(signedOut()).toBe(1)
  expect(count(REFRESH)).toBe(1)
})

test('signing out during a renewal stays in effect', async () => {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let folder = ''
  const { panel, count, service } = await client(async (url, real) => {
    if (url.endsWith('/login')) return expired(folder, real)
    const answer = await real()
    if (url.endsWith('/refresh')) await held
    return answer
  })
  folder = service.folder
  await panel.signIn('demo', 'demo')
  const late = panel.api('GET /api/auth/me')
  await expect.poll(() => count(REFRESH)).toBe(1)

  await panel.signOut()
  letGo()

  await expect(late).rejects.toMatchObject({ code: 'unauthenticated' })
  await expect(panel.api('GET /api/auth/me')).rejects.toMatchObject({ code: 'unauthenticated' })
  expect(count(REFRESH)).toBe(1)
})

test('a call that the service refuses during a sign-out asks for no other token', async () => {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const answered: string[] = []
  const { panel, count, signedOut } = await client(async (url, real) => {
    const answer = await real()
    answered.push(`${url.slice(url.lastIndexOf('/'))} ${answer.status}`)
    if (url.endsWith('/logout')) await held
    return answer
  })
  await panel.signIn('demo', 'demo')
  const out = panel.signOut()
  await expect.poll(() => answered).toContainEqual(expect.stringContaining('/logout'))

  const late = panel.api('GET /api/auth/me').catch((error: unknown) => error)
  await expect.poll(() => answered).toContain('/me 401')
  // The client would ask in this time.
  await pause(100)
  letGo()
  await out

  expect(await late).toMatchObject({ code: 'unauthenticated' })
  expect([count(REFRESH), signedOut()]).toEqual([0, 0])
})

test('an unanswered refresh does not end the session', async () => {
  let away = true
  let folder = ''
  const made = await client((url, real) => {
    if (url.endsWith('/login')) return expired(folder, real)
    return away && url.endsWith('/refresh') ? Promise.reject(new TypeError('fetch failed')) : real()
  })
  folder = made.service.folder
  const { panel, signedOut } = made
  await panel.signIn('demo', 'demo')

  await expect(panel.api('GET /api/auth/me')).rejects.toMatchObject({ status: 0, code: 'network_failed' })
  away = false

  expect(await panel.api('GET /api/auth/me')).toMatchObject({ username: 'demo' })
  expect(signedOut()).toBe(0)
})

test('an error carries the fields of the service’s answer', async () => {
  const { panel } = await client()
  await panel.signIn('demo', 'demo')

  const failed = panel.api('PATCH /api/settings', { body: { ssh_host: 'http://nowhere' } })

  await expect(failed).rejects.toMatchObject({
    constructor: ApiError,
    operation: 'PATCH /api/settings',
    status: 400,
    code: 'invalid_request',
    message: 'La requête est invalide.',
    details: [{ field: 'ssh_host' }],
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
})

test('a rate-limited sign-in says when to retry', async () => {
  const { panel } = await client()
  const tries = Array.from({ length: 6 }, () => panel.signIn('demo', 'wrong').catch((error: unknown) => error))

  const failures = await Promise.all(tries)

  const limited = failures.find((error) => error instanceof ApiError && error.status === 429)
  expect(limited).toMatchObject({ code: 'login_rate_limited', retryAfter: expect.any(Number) })
  expect(isFailure(limited, 'POST /api/auth/login')).toBe(true)
  expect(isFailure(limited, 'POST /api/auth/refresh')).toBe(false)
})

test('a network failure, an abort and a foreign answer are distinct errors', async () => {
  const { service, panel } = await client()
  await panel.signIn('demo', 'demo')
  const reason = new Error('enough')

  const aborted = panel.api('GET /api/updates/targets', { signal: AbortSignal.abort(reason) })
  await expect(aborted).rejects.toBe(reason)

  const foreign = createPanel({ url: service.url, fetch: async () => new Response('<h1>502</h1>', { status: 502 }) })
  const unexpected = { status: 502, code: 'unexpected_answer' }
  await expect(foreign.api('GET /api/health')).rejects.toMatchObject(unexpected)
  const page = createPanel({ url: service.url, fetch: async () => Response.json(null) })
  expect(await page.api('GET /api/updates/history')).toBe(null)

  await service.stop()
  await expect(panel.api('GET /api/health')).rejects.toMatchObject({ status: 0, code: 'network_failed' })
})

test('parameters go into the address, and undefined ones are left out', async () => {
  const asked: string[] = []
  const panel = createPanel({
    url: 'http://panel.test/',
    fetch: async (url) => {
      asked.push(url)
      return Response.json({})
    },
  })

  await panel.api('GET /api/updates/jobs/{id}/output', { params: { id: 'a/b c' }, query: { offset: 3 } })
  await panel.api('GET /api/updates/history')
  await panel.api('GET /api/audit', { query: { user: 'é&', limit: 2 } })

  expect(asked).toEqual([
    'http://panel.test/api/updates/jobs/a%2Fb%20c/output?offset=3',
    'http://panel.test/api/updates/history',
    'http://panel.test/api/audit?user=%C3%A9%26&limit=2',
  ])
})

test('an unhealthy service is an answer, as documented, not an error', async () => {
  const body = { status: 'degraded', version: '1.0.0', boot_id: 'b', started_at: '2026-03-01T12:00:00.000Z' }
  const headers = { 'x-request-id': '7f0c1a52-6a0e-4c5e-9f43-0d5a7f3f6b11' }
  const panel = createPanel({
    url: 'https://panel.example',
    fetch: async () => Response.json(body, { status: 503, headers }),
  })

  expect(await panel.api('GET /api/health')).toEqual(body)
})

test.each([
  '',
  'panel.example',
  '/panel',
  'ftp://panel.example',
  'https://',
  'https://panel.example:99999',
  'https://panel.example?a=b',
  'https://panel.example/#a',
  'https://somebody:secret@panel.example',
  'https://panel.example ',
])('“%s” is rejected as an address of the service', (url) => {
  const asked: string[] = []
  const make = () =>
    createPanel({
      url,
      async fetch(address) {
        asked.push(address)
        return Response.json({})
      },
    })

  expect(make).toThrow(TypeError)
  expect(make).toThrow(`L’adresse du service s’écrit comme « https://panel.example », et non « ${url} ».`)
  expect(asked).toEqual([])
})

test.each(['http://127.0.0.1:8080', 'http://[::1]:8080/', 'https://panel.example/below/a/path/', 'http://localhost'])(
  '%s is accepted as an address of the service',
  async (url) => {
    const asked: string[] = []
    const fetch = async (address: string) => {
      asked.push(address)
      return Response.json([])
    }

    await createPanel({ url, fetch }).api('GET /api/modules')

    expect(asked).toEqual([`${url.replace(/\/$/, '')}/api/modules`])
  },
)

test('the answer of a module is no sign-in, whatever its fields are', async () => {
  const { panel, count } = await client((url, real) =>
    url.includes('/api/modules')
      ? Promise.resolve(Response.json({ access_token: 'of another', expires_in: 900 }))
      : real(),
  )
  await panel.signIn('demo', 'demo')

  await panel.api('GET /api/modules')
  expect((await panel.api('GET /api/auth/me')).username).toBe('demo')
  expect(count(REFRESH)).toBe(0)
})

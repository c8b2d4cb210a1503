import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { areas, commands, functions, sockets, tasks } from '../functions/index.ts'
import { defineFunction, ERRORS, fail } from '../functions/services.ts'
import { areaOf } from '../openapi/operation.ts'
import type { AnyFunction } from '../runtime/function.ts'
import { mount, testApp } from './app.ts'
import { answered, audited, auditedActions, refused, rows } from './functions/answers.ts'
import { rounds } from './rounds.ts'

const FOLDER = join(import.meta.dirname, '../functions')
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).sort()
const endpointFiles = files.filter((file) => /\.(get|post|put|patch|delete)\.ts$/.test(file))
const socketFiles = files.filter((file) => file.endsWith('.ws.ts'))
const taskFiles = files.filter((file) => file.endsWith('.task.ts'))
const commandFiles = files.filter((file) => file.endsWith('.command.ts'))

const Module = z.object({ default: z.custom<object>((value) => typeof value === 'object' && value !== null) })
const Declared = z.object({ method: z.string() })

async function load(file: string): Promise<object> {
  return Module.parse(await import(join(FOLDER, file))).default
}

const loadAll = (list: readonly string[]) => Promise.all(list.map(load))

const title = ({ method, path }: { method: string; path: string }) => `${method} ${path}`
const named = functions.map((fn) => [title(fn), fn] as const)

/** Only the address of a policy names its target; the others take any text. */
const concrete = (path: string) => path.replace('/protection/:target', '/protection/default').replace(/:\w+/g, '1')

/** The functions that the contract opens to anybody, with or without a token. */
const PUBLIC = [
  'POST /api/auth/login',
  'POST /api/auth/refresh',
  'POST /api/auth/logout',
  // Ways and steps of a sign-in: each proves who comes by what it carries.
  'POST /api/auth/enrol',
  'POST /api/auth/enrol/options',
  'POST /api/auth/login/answers',
  'GET /api/auth/login/passkey',
  'POST /api/auth/login/passkey',
  'POST /api/auth/login/passkey/options',
  'GET /api/auth/oidc',
  'POST /api/auth/oidc',
  'POST /api/auth/oidc/answer',
  'GET /api/health',
  'GET /api/install/status',
  'POST /api/install/check',
  'POST /api/install',
  'POST /api/install/key',
  'GET /api/openapi.json',
  'GET /api/asyncapi.json',
  'GET /api/docs',
  'GET /api/docs/:file',
  'GET /.well-known/jwks.json',
  // Absent unless the operator enables it.
  'GET /metrics',
  // A client signs in there.
  'GET /',
  'GET /panel/:file',
  // A frame has no token; its ticket comes from an endpoint for users.
  'GET /api/module-pages/:id/:ticket/:file',
  'GET /api/docs/',
]

test('the manifest lists every endpoint file, once, and nothing else', async () => {
  expect(new Set(functions)).toEqual(new Set(await loadAll(endpointFiles)))
  expect(functions).toHaveLength(endpointFiles.length)
})

test('the manifest lists every socket file, once, and nothing else', async () => {
  expect(new Set(sockets)).toEqual(new Set(await loadAll(socketFiles)))
  expect(sockets).toHaveLength(socketFiles.length)
})

test('the manifest lists every task file, once, and nothing else', async () => {
  expect(taskFiles.length).toBeGreaterThan(0)
  expect(new Set(tasks)).toEqual(new Set(await loadAll(taskFiles)))
  expect(tasks).toHaveLength(taskFiles.length)
})

test('the manifest lists every command file, once, and nothing else', async () => {
  expect(commandFiles.length).toBeGreaterThan(0)
  expect(new Set(commands)).toEqual(new Set(await loadAll(commandFiles)))
  expect(commands).toHaveLength(commandFiles.length)
})

test.each([
  ['tasks', tasks],
  ['commands', commands],
])('the %s are sorted by name, and each name is unique', (_, list) => {
  const names = list.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)].sort())
})

test.each([...taskFiles, ...commandFiles])('%s is named after its name', async (file) => {
  const { name } = z.object({ name: z.string() }).parse(await load(file))
  expect(file.replace(/^.*\/|\.(task|command)\.ts$/g, '')).toBe(name.replace(' ', '-'))
})

test('the interval of a task is a number of seconds', () => {
  for (const { every } of tasks) expect(Number.isInteger(every) && every > 0).toBe(true)
})

test('the names of commands are one or two lower-case words, and so are their flags', () => {
  for (const { name, flags = {} } of commands) {
    expect(name).toMatch(/^[a-z]+( [a-z]+)?$/)
    for (const flag of Object.keys(flags)) expect(flag).toMatch(/^[a-z]+(-[a-z]+)*$/)
  }
})

test.each([...endpointFiles, ...socketFiles, ...taskFiles, ...commandFiles])(
  '%s has a default export and no other',
  async (file) => {
    const source = readFileSync(join(FOLDER, file), 'utf8')

    expect(Object.keys(z.record(z.string(), z.unknown()).parse({ ...(await import(join(FOLDER, file))) }))).toEqual([
      'default',
    ])
    expect(source.match(/^export /gm)).toEqual(['export '])
    expect(source).toMatch(/^export default define(Function|Socket|Task|Command)\(\{$/m)
  },
)

test.each(endpointFiles)('%s is named after its method', async (file) => {
  const { method } = Declared.parse(await load(file))
  expect(file.endsWith(`.${method.toLowerCase()}.ts`)).toBe(true)
})

test('no method and path is declared twice, not even with other parameter names', () => {
  const addresses = functions.flatMap(({ method, path, alsoAt = [] }) =>
    [path, ...alsoAt].map((each) => ({ method, path: each })),
  )
  const all = [...addresses, ...sockets.map(({ path }) => ({ method: 'GET', path }))].map((each) =>
    title(each).replace(/:\w+/g, ':'),
  )
  expect(all).toEqual([...new Set(all)])
})

test('the manifest is sorted by path', () => {
  const paths = functions.map(({ path }) => path)
  expect(paths).toEqual([...paths].sort())
})

/** Returns the areas of the documented functions. */
const documented = (fns: readonly AnyFunction[]) => fns.filter(({ document }) => document !== false).map(areaOf)

test('the manifest describes each area of the documented functions, and no other', () => {
  expect(new Set(Object.keys(areas))).toEqual(new Set(documented(functions)))
})

test('every function that is not public by the contract requires a user', () => {
  const open = functions.filter(({ auth }) => auth === 'none' || auth === 'optional').map(title)
  expect(PUBLIC).toEqual(expect.arrayContaining(open))
})

test('the functions without a limit are those that the contract exempts', () => {
  const unlimited = functions.filter(({ rateLimit }) => rateLimit === false).map(title)
  const letOff = ['GET /api/health', 'POST /api/auth/logout', 'GET /.well-known/jwks.json']
  expect(letOff).toEqual(expect.arrayContaining(unlimited))
})

const guarded = named.filter(([, { auth }]) => auth === 'user' || auth === 'operator' || auth === 'admin')
const administrative = named.filter(([, { auth }]) => auth === 'admin')
const limited = named.flatMap(([name, fn]) => (fn.rateLimit ? [[name, fn, fn.rateLimit] as const] : []))

test('some functions require a user, and some have a limit', () => {
  expect(guarded.length).toBeGreaterThan(0)
  expect(limited.length).toBeGreaterThan(0)
})

/** Checks the effects that a refusal must not have. */
async function nothingHappened({ ran, signIns, db }: Awaited<ReturnType<typeof testApp>>) {
  expect(ran).toEqual([])
  expect(signIns).toEqual([])
  expect(await audited(db)).toEqual([])
  expect(await rows(db, 'SELECT id FROM jobs')).toEqual([])
}

test.each(guarded)('%s is 401 without a valid token', async (_, { method, path }) => {
  const app = await testApp(functions)
  const expired = await app.tokenFor('admin')
  app.advance(901_000)

  for (const authorization of [undefined, 'Bearer rubbish', 'Bearer a.b.c', 'Basic YTpi', `Bearer ${expired}`]) {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization }
    const { error } = await refused(await app.request(method, concrete(path), { headers }), 401, 'unauthenticated')
    expect(error).toBe('Vous devez être connecté.')
  }

  await nothingHappened(app)
})

test.each(guarded)('%s checks the token before it reads the body', async (_, { method, path }) => {
  const app = await testApp(functions)
  const body = method === 'GET' ? undefined : 'x'.repeat(2 * 1024 * 1024)

  await refused(await app.request(method, concrete(path), { body }), 401, 'unauthenticated')
})

async function refusesOrdinaryUsers(fns: readonly AnyFunction[], { method, path }: AnyFunction) {
  const app = await testApp(fns)
  const { error } = await refused(await app.request(method, concrete(path), { as: 'user' }), 403, 'forbidden')
  expect(error).toBe('Vos droits ne permettent pas cette action.')
  await nothingHappened(app)
}

test('every function for administrators is 403 for a user', async () => {
  for (const [, fn] of administrative) await refusesOrdinaryUsers(functions, fn)
})

/** Some functions are mounted with these variables alone. */
const ENV = {
  PANEL_PUBLIC_URL: 'https://panel.example',
  PANEL_OIDC_ISSUER: 'https://id.example',
  PANEL_OIDC_CLIENT_ID: 'ops-panel',
}

/** Sends requests up to the limit, which are admitted even if invalid, and one more. */
async function refusesOverLimit(fns: readonly AnyFunction[], { method, path, rateLimit: limit, auth }: AnyFunction) {
  if (!limit) throw new Error(`${title({ method, path })} has no limit`)
  const app = await testApp(fns, { env: ENV })
  const headersOf = async (as: 'user' | 'admin'): Promise<Record<string, string>> =>
    auth === 'none' || auth === 'optional' ? {} : { authorization: `Bearer ${await app.tokenFor(as)}` }
  const headers = await headersOf('admin')
  const send = (from = '203.0.113.1', more = headers) =>
    app.request(method, concrete(path), { from, headers: more, ...(method !== 'GET' && { body: '' }) })
  const admitted = new Set<number>()
  for (let n = 0; n < limit.limit; n++) {
    const { status, body } = await send()
    admitted.add(status)
    // A long answer keeps its slot until it is read, or until its reader leaves.
    await body?.cancel()
  }
  expect(admitted).not.toContain(429)
  const before = { ran: app.ran.length, signIns: app.signIns.length, audited: (await audited(app.db)).length }

  const response = await send()
  expect(response.headers.get('retry-after')).toBe(String(limit.seconds))
  const { error } = await refused(response, 429, limit.refusal ?? 'rate_limited')
  expect(error).toContain(`Réessayez dans ${limit.seconds} s.`)
  expect({ ran: app.ran.length, signIns: app.signIns.length }).toEqual({ ran: before.ran, signIns: before.signIns })
  expect((await auditedActions(app.db)).slice(before.audited)).toEqual(limit.audit ? [limit.audit] : [])

  // Another caller is not limited; the same one is, from another place or as another user, as the limit counts.
  if (limit.by === 'user') {
    expect((await send('203.0.113.2')).status).toBe(429)
    expect((await send('203.0.113.1', await headersOf('user'))).status).not.toBe(429)
  } else {
    expect((await send('203.0.113.2')).status).not.toBe(429)
  }
  app.advance(limit.seconds * 1000)
  expect((await send()).status).not.toBe(429)
}

/** Requests that show that a user's limit is obeyed. The test after this one checks its declared figure. */
const ENOUGH = rounds(120, Number.POSITIVE_INFINITY)

test.each(limited)('%s is 429 over its limit', async (_, fn, limit) => {
  const most = limit.by === 'user' ? Math.min(limit.limit, ENOUGH) : limit.limit
  const limitedSooner = { ...fn, rateLimit: { ...limit, limit: most } }
  await refusesOverLimit(
    functions.map((each) => (each === fn ? limitedSooner : each)),
    limitedSooner,
  )
})

test.each(limited.filter(([, , { by }]) => by === 'user'))(
  '%s has the limit of the contract or a more generous one',
  (_, { method }, { limit, seconds }) => {
    expect((limit * 60) / seconds).toBeGreaterThanOrEqual(method === 'GET' ? 1200 : 300)
  },
)

// The rules themselves on small functions, to show that the checks above can fail.

const open = defineFunction({
  method: 'GET',
  path: '/api/probe/open',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'none',
  rateLimit: false,
  response: z.object({ ok: z.boolean() }),
  handler: () => ({ ok: true }),
})

const administrators = defineFunction({
  method: 'POST',
  path: '/api/probe/administrators',
  summary: 'A probe',
  description: 'Made for a test.',
  auth: 'admin',
  rateLimit: { limit: 3, seconds: 10, by: 'user' },
  audit: ['update_start'],
  request: { body: z.object({ target: z.string() }) },
  response: z.object({ by: z.string() }),
  async handler({ body: { target } }, { user, audit }) {
    await audit('update_start', { target })
    return { by: user.username }
  },
})

test('a function for administrators refuses a user before it reads the body, and serves an administrator', async () => {
  const app = await testApp([administrators])
  const { path } = administrators

  await refused(await app.request('POST', path, { body: '{' }), 401, 'unauthenticated')
  await refusesOrdinaryUsers([administrators], administrators)
  await refused(await app.request('POST', path, { as: 'user', body: '{' }), 403, 'forbidden')
  await refused(await app.request('POST', path, { as: 'admin', body: '{' }), 400, 'invalid_json')
  expect(await audited(app.db)).toEqual([])

  const answer = await app.request('POST', path, { as: 'admin', body: { target: 'host' } })
  expect(await answered(answer, 200)).toEqual({ by: 'alice' })
  expect(await auditedActions(app.db)).toEqual(['update_start'])
})

test('the checks find a function that is open, not for administrators, or without a limit', async () => {
  const app = await testApp([open])

  await expect(refused(await app.request('GET', open.path), 401, 'unauthenticated')).rejects.toThrow()
  await expect(refusesOrdinaryUsers([open], open)).rejects.toThrow()
  const unlimited = { ...open, rateLimit: { limit: 3, seconds: 10, by: 'address' as const } }
  await expect(refusesOverLimit([open], unlimited)).rejects.toThrow()
  await refusesOverLimit([unlimited], unlimited)
  await refusesOverLimit([administrators], administrators)
})

test('a user’s limit counts only permitted callers; an address’s counts everybody first', async () => {
  const byAddress = { ...administrators, rateLimit: { limit: 3, seconds: 10, by: 'address' as const } }
  const app = await testApp([administrators])
  const other = await testApp([byAddress])

  for (let n = 0; n < 5; n++) {
    await refused(await app.request('POST', administrators.path), 401, 'unauthenticated')
    await refused(await app.request('POST', administrators.path, { as: 'user' }), 403, 'forbidden')
  }
  await refused(await app.request('POST', administrators.path, { as: 'admin' }), 400, 'invalid_json')
  for (let n = 0; n < 3; n++) await refused(await other.request('POST', byAddress.path), 401, 'unauthenticated')
  await refused(await other.request('POST', byAddress.path), 429, 'rate_limited')
})

test.each(['/api/nothing', '/api', '/nothing', '/api/health/', '/api/auth/login/x', '/ws/updates/1', '/API/health'])(
  '%s is an unknown route: 404',
  async (path) => {
    const app = await testApp(functions)

    const { error } = await refused(await app.request('GET', path), 404, 'not_found')

    expect(error).toBe('Cette adresse n’existe pas.')
    await refused(await app.request('POST', path, { body: '{' }), 404, 'not_found')
  },
)

const addresses = new Set(functions.flatMap(({ path, alsoAt = [] }) => [path, ...alsoAt]))

test.each([...addresses])('%s with another method is 405 with Allow', async (path) => {
  const app = await testApp(functions, { env: ENV })
  const here = functions.filter((fn) => fn.path === path || fn.alsoAt?.includes(path))
  const methods = here.map(({ method }) => String(method))
  const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !methods.includes(method))

  for (const method of others) {
    const response = await app.request(method, concrete(path))
    expect(response.headers.get('allow')?.split(', ').sort()).toEqual(methods.sort())
    await refused(response, 405, 'method_not_allowed')
  }

  await nothingHappened(app)
})

test('an address with two functions allows both methods', async () => {
  const write = defineFunction({
    method: 'PUT',
    path: '/api/probe/open',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'none',
    rateLimit: false,
    audit: false,
    response: z.null(),
    handler: () => null,
  })
  const app = await testApp([open, write])

  const response = await app.request('DELETE', open.path)

  expect(response.headers.get('allow')).toBe('GET, PUT')
  await refused(response, 405, 'method_not_allowed')
})

const MIB = 1024 * 1024
const withBody = named.filter(([, { request }]) => request?.body)

test.each(withBody)('%s refuses a body over 1 MiB', async (_, { method, path, precondition }) => {
  // The wizard's functions read nothing once there is a host.
  const app = await testApp(functions, precondition ? { ssh: { host: '' } } : { env: ENV })
  const body = JSON.stringify({ target: 'x'.repeat(MIB) })
  const send = (headers: Record<string, string>) => app.request(method, concrete(path), { as: 'admin', body, headers })

  const { error } = await refused(await send({}), 413, 'body_too_large')
  expect(error).toBe('Le corps de la requête dépasse 1 Mio.')
  await refused(await send({ 'content-length': String(Buffer.byteLength(body)) }), 413, 'body_too_large')

  await nothingHappened(app)
})

test('a body of exactly 1 MiB is read, and one byte more is not', async () => {
  const app = await testApp([administrators])
  const frame = JSON.stringify({ target: '' }).length
  const send = (bytes: number) =>
    app.request('POST', administrators.path, { as: 'admin', body: { target: 'x'.repeat(bytes - frame) } })

  expect((await send(MIB)).status).toBe(200)
  await refused(await send(MIB + 1), 413, 'body_too_large')
})

test('every response, good or bad, has its own request id and must not be cached', async () => {
  const app = await testApp(functions)
  const responses = [
    await app.request('GET', '/api/health'),
    await app.request('GET', '/api/auth/me', { as: 'user' }),
    await app.request('GET', '/api/auth/me'),
    await app.request('GET', '/api/nothing'),
    await app.request('PUT', '/api/health'),
    await app.request('POST', '/api/auth/login', { body: '{' }),
  ]

  const ids = responses.map(({ headers }) => headers.get('x-request-id'))
  expect(new Set(ids).size).toBe(responses.length)
  for (const { headers } of responses) {
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  }
})

test('a rejected field is named with a French sentence', async () => {
  const app = await testApp([administrators])

  const body = { target: 1 }
  const { details } = await refused(
    await app.request('POST', administrators.path, { as: 'admin', body }),
    400,
    'invalid_request',
  )

  expect(details).toEqual([{ field: 'target', message: expect.stringMatching(/^Entrée invalide/) }])
})

test('every code of the table has a French sentence and a matching status', () => {
  for (const [code, [status, text]] of Object.entries(ERRORS)) {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).toMatch(/^[A-ZÀ-Ý]/)
  }
})

/** A GET at `/api/probe` with the handler under test. */
const probe = (handler: () => unknown, response: z.ZodType = z.unknown()): AnyFunction => ({
  method: 'GET',
  path: '/api/probe',
  auth: 'none',
  rateLimit: false,
  response,
  handler,
})

test('a field that the response does not declare does not leak, at any depth', async () => {
  const answer = { id: 1, token_hash: 'secret', items: [{ name: 'a', token_hash: 'secret' }] }
  const shape = z.object({ id: z.number(), items: z.array(z.object({ name: z.string() })) })
  const app = await testApp([probe(() => answer, shape)])

  expect(await answered(await app.request('GET', '/api/probe'), 200)).toEqual({ id: 1, items: [{ name: 'a' }] })
})

test('an answer of an undeclared shape is 500, and is not sent', async () => {
  const app = await testApp([probe(() => ({ id: 'secret' }), z.object({ id: z.number() }))])

  const response = await app.request('GET', '/api/probe')

  expect(await response.clone().text()).not.toContain('secret')
  await refused(response, 500, 'internal')
})

test('an undeclared code is 500 under strict, and is sent otherwise', async () => {
  const undeclared = probe(() => {
    throw fail('job_missing')
  })
  const strict = await testApp([undeclared])
  const lenient = mount([undeclared], strict.services, { strict: false })

  await refused(await strict.request('GET', '/api/probe'), 500, 'internal')
  expect(strict.lines().some((line) => line.includes('job_missing') && line.includes('GET /api/probe'))).toBe(true)
  await refused(await lenient.request('/api/probe'), 404, 'job_missing')

  const declared = await testApp([{ ...undeclared, errors: ['job_missing'] }])
  await refused(await declared.request('GET', '/api/probe'), 404, 'job_missing')
})

test('a parameter that the schema refuses gives 404 without a declaration, as the path implies it', async () => {
  const byId = defineFunction({
    method: 'GET',
    path: '/api/probe/:id',
    summary: 'A probe',
    description: 'Made for a test.',
    auth: 'none',
    rateLimit: false,
    request: { params: z.object({ id: z.coerce.number().int() }) },
    response: z.number(),
    handler: ({ params: { id } }) => id,
  })
  const app = await testApp([byId])

  expect(await answered(await app.request('GET', '/api/probe/12'), 200)).toBe(12)
  await refused(await app.request('GET', '/api/probe/twelve'), 404, 'not_found')
})

test.each([
  ['an error', new TypeError('secret cause')],
  ['a text', 'secret cause'],
  ['nothing', undefined],
])(
  'an unexpected exception (%s) is 500 and reveals nothing, and its log line has the request id',
  async (_, thrown) => {
    const app = await testApp([
      probe(() => {
        throw thrown
      }),
    ])

    const response = await app.request('GET', '/api/probe')

    const id = response.headers.get('x-request-id') ?? 'none'
    const all = JSON.stringify([...response.headers])
    const body = await refused(response, 500, 'internal')
    expect(body).toEqual({ error: 'Une erreur interne est survenue.', code: 'internal' })
    expect(all).not.toContain('secret cause')
    const lines = app.lines().filter((line) => line.includes(id))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain('"level":"error"')
    if (thrown !== undefined) expect(lines[0]).toContain('secret cause')
  },
)

test('a refusal is logged with its request id, and without the headers or the body of the request', async () => {
  const app = await testApp(functions)
  const headers = { authorization: 'Bearer not-a-token', cookie: 'svc_refresh=not-a-cookie' }

  const response = await app.request('POST', '/api/updates/run', { headers, body: { target: 'not-read' } })

  const id = response.headers.get('x-request-id') ?? 'none'
  const lines = app.lines().filter((line) => line.includes(id))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('"code":"unauthenticated"')
  expect(app.lines().join('\n')).not.toMatch(/not-a-token|not-a-cookie|not-read/)
})

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

// Mistakes in declarations that do not compile. Each case is one file; the lines with an expected error end in `//
// TS<code>`. One run of the compiler checks them all.

const ROOT = join(import.meta.dirname, '..')

const IMPORTS = `import * as z from 'zod'
import { defineFunction, defineSocket, defineTask } from '${ROOT}/functions/services.ts'
import { defineCommand } from '${ROOT}/runtime/command.ts'
import { textFrame } from '${ROOT}/runtime/socket.ts'
export const used = [z, defineFunction, defineSocket, defineTask, defineCommand, textFrame]
`

/** A declaration with single lines replaced, left out (`''`) or added. */
const get = (lines: Record<string, string> = {}) =>
  declaration('defineFunction', {
    method: `method: 'GET',`,
    path: `path: '/api/things',`,
    summary: `summary: 'Things',`,
    description: `description: 'All there are.',`,
    auth: `auth: 'user',`,
    rateLimit: 'rateLimit: false,',
    audit: '',
    request: '',
    status: '',
    response: 'response: z.object({ id: z.number() }),',
    example: '',
    errors: '',
    handler: 'handler: () => ({ id: 1 }),',
    ...lines,
  })

const post = (lines: Record<string, string> = {}) =>
  get({ method: `method: 'POST',`, audit: 'audit: false,', ...lines })

const socket = (lines: Record<string, string> = {}) =>
  declaration('defineSocket', {
    path: `path: '/ws/things',`,
    summary: `summary: 'Things',`,
    description: `description: 'As they come.',`,
    auth: `auth: 'user',`,
    rateLimit: 'rateLimit: false,',
    request: '',
    sends: 'sends: {},',
    closes: 'closes: {},',
    open: 'open() {},',
    ...lines,
  })

const task = (lines: Record<string, string> = {}) =>
  declaration('defineTask', {
    name: `name: 'sweep',`,
    every: 'every: 60,',
    run: 'async run({ db, clock }) { await db.run(clock().toISOString()) },',
    ...lines,
  })

const command = (lines: Record<string, string> = {}) =>
  declaration('defineCommand', {
    name: `name: 'sweep',`,
    summary: `summary: 'sweeps',`,
    args: '',
    flags: '',
    run: `run: async () => 'swept',`,
    ...lines,
  })

function declaration(define: string, { opening = '', ...lines }: Record<string, string>): string {
  const body = Object.values(lines).filter((line) => line !== '')
  return `export default ${define}({${opening}\n${body.map((line) => `  ${line}`).join('\n')}\n})\n`
}

const CORRECT: Record<string, string> = {
  'a function with everything': `export default defineFunction({
  method: 'PATCH',
  path: '/api/things/:id/parts/:part',
  area: 'things',
  summary: 'Change a part',
  description: 'Of a thing.',
  auth: 'admin',
  credential: 'session',
  stepUp: true,
  whileEnrolling: true,
  targets: async ({ params: { id, part }, body: { name } }, { db }) =>
    db === undefined ? undefined : [String(id + name), part],
  rateLimit: { limit: 30, seconds: 60, by: 'user', refusal: 'rate_limited', audit: 'login_rate_limited' },
  audit: ['update_start', 'login_failed'],
  request: {
    params: z.object({ id: z.coerce.number(), part: z.string() }),
    query: z.object({ deep: z.literal('yes').optional() }),
    body: z.object({ name: z.string().transform((name) => name.length) }),
    refusal: 'target_missing',
  },
  status: 202,
  response: z.object({ id: z.number(), name: z.string().optional() }),
  headers: { 'x-things': 'How many there are.' },
  example: {
    query: { deep: 'yes' },
    body: { name: 'a' },
    response: { id: 1 },
  },
  errors: ['job_missing', 'ssh_failed'],

  async handler({ params: { id, part }, query: { deep }, body: { name } }, { user, fail, audit, db }) {
    if (part === deep) throw fail('job_missing', { cause: db })
    if (user.role === 'admin') await audit('update_start', { target: part })
    return { id: id + name + user.id }
  },
})
`,
  'a function that only reads': get(),
  'a function that only reads, and audits': get({
    audit: `audit: ['login_failed'],`,
    handler: `async handler(_, { audit }) { await audit('login_failed'); return { id: 1 } },`,
  }),
  'a mutation with audit: false': post(),
  'a public function': get({
    auth: `auth: 'none',`,
    handler: 'handler: (_, { user }) => ({ id: user === undefined ? 1 : 2 }),',
  }),
  'an optional user, asked for first': get({
    auth: `auth: 'optional',`,
    handler: 'handler: (_, { user }) => ({ id: user?.id ?? 0 }),',
  }),
  'a status by the word in the answer': get({
    status: 'status: { ok: 200, degraded: 503 },',
    response: `response: z.object({ status: z.enum(['ok', 'degraded']) }),`,
    handler: `handler: () => ({ status: 'ok' as const }),`,
  }),
  'a socket with everything': `export default defineSocket({
  path: '/ws/things/:id',
  summary: 'A thing',
  description: 'As it changes.',
  auth: 'optional',
  rateLimit: { limit: 30, seconds: 60, by: 'address' },
  request: { params: z.object({ id: z.string() }), query: z.object({ from: z.coerce.number() }) },
  sends: { thing: textFrame('It has changed.', z.object({ id: z.string() }), { id: 'a' }), bytes: { description: 'All.' } },
  takes: { more: { description: 'More.' } },
  closes: { missing: 'There is none.' },
  open({ params: { id }, query: { from } }, { user, socket }) {
    if (user && id.length > from) socket.close('missing')
  },
})
`,
  'a socket without parameters': socket(),
  'cookies, typed by their schema': post({
    request: 'request: { cookies: z.object({ one: z.string().optional(), two: z.coerce.number() }) },',
    handler: 'handler: ({ cookies: { one, two } }) => ({ id: (one?.length ?? 0) + two }),',
  }),
  'cookies beside the other parts, also in a GET': get({
    path: `path: '/api/things/:id',`,
    request: `request: {
    params: z.object({ id: z.string() }),
    query: z.object({ deep: z.string() }),
    cookies: z.object({ one: z.string() }),
  },`,
    handler: 'handler: ({ params: { id }, query: { deep }, cookies: { one } }) => ({ id: (id + deep + one).length }),',
  }),
  'a path under /.well-known/': get({ path: `path: '/.well-known/things.json',` }),
  'a task': task(),
  'a command': command(),
  'a command with arguments and flags': command({
    args: `args: ['user'],`,
    flags: `flags: { now: 'at once' },`,
    run: `run: async ({ args: [user = ''], flags }, { db, operator }) => (flags.has('now') && db ? user : operator),`,
  }),
}

const WRONG: Record<string, string> = {
  'without auth': get({ auth: '', opening: ' // TS2345' }),
  'with an unknown role': get({ auth: `auth: 'owner', // TS2322` }),
  'without rateLimit': get({ rateLimit: '', opening: ' // TS2345' }),
  'with a limit that does not say whom it counts': get({ rateLimit: 'rateLimit: { limit: 1, seconds: 1 }, // TS2322' }),
  'without response': get({ response: '', opening: ' // TS2345' }),
  'with an unknown method': get({ method: `method: 'FETCH', // TS2322` }),
  'with a path outside /api/': get({ path: `path: '/things', // TS2322` }),
  'a POST without audit': post({ audit: '', opening: ' // TS2345' }),
  'a PUT without audit': post({ method: `method: 'PUT',`, audit: '', opening: ' // TS2345' }),
  'a PATCH without audit': post({ method: `method: 'PATCH',`, audit: '', opening: ' // TS2345' }),
  'a DELETE without audit': post({ method: `method: 'DELETE',`, audit: '', opening: ' // TS2345' }),
  'with an unknown audit action': post({ audit: `audit: ['coffee_made'], // TS2322` }),
  'with audit: true': post({ audit: 'audit: true, // TS2322' }),
  ':id without request': get({ path: `path: '/api/things/:id',`, opening: ' // TS2345' }),
  ':id with an empty request': get({ path: `path: '/api/things/:id',`, request: 'request: {}, // TS2322' }),
  ':id with other params': get({
    path: `path: '/api/things/:id',`,
    request: 'request: { params: z.object({ name: z.string() }) }, // TS2375',
  }),
  ':id/:part with one of the two': get({
    path: `path: '/api/things/:id/parts/:part',`,
    request: 'request: { params: z.object({ id: z.string() }) }, // TS2375',
  }),
  'params that the path does not have': get({
    request: 'request: { params: z.object({ id: z.string() }) }, // TS2322',
  }),
  'a user taken for granted on a public function': get({
    auth: `auth: 'none',`,
    handler: 'handler: (_, { user }) => ({ id: user.id }), // TS18048',
  }),
  'a user taken for granted where it is optional': get({
    auth: `auth: 'optional',`,
    handler: 'handler: (_, { user }) => ({ id: user.id }), // TS18048',
  }),
  'an undeclared code in fail': get({
    errors: `errors: ['job_missing'],`,
    handler: `handler(_, { fail }) { throw fail('ssh_failed') }, // TS2345`,
  }),
  'a code in fail where none is declared': get({
    handler: `handler(_, { fail }) { throw fail('job_missing') }, // TS2345`,
  }),
  'an unknown code in errors': get({ errors: `errors: ['no_coffee'], // TS2322` }),
  'an unknown code as refusal': get({ request: `request: { query: z.object({}), refusal: 'no_coffee' }, // TS2322` }),
  'an undeclared audit action': post({
    audit: `audit: ['update_start'],`,
    handler: `async handler(_, { audit }) { await audit('login_failed'); return { id: 1 } }, // TS2345`,
  }),
  'an audit action under audit: false': post({
    handler: `async handler(_, { audit }) { await audit('update_start'); return { id: 1 } }, // TS2345`,
  }),
  'an audit action of a reading function that declares none': get({
    handler: `async handler(_, { audit }) { await audit('update_start'); return { id: 1 } }, // TS2345`,
  }),
  'a response of another type': get({ handler: `handler: () => ({ id: 'one' }), // TS2322` }),
  'a response that lacks a field': get({ handler: 'handler: () => ({}), // TS2322' }),
  'a response of another type, asynchronous': get({ handler: `handler: async () => ({ id: 'one' }), // TS2322` }),
  'no response': get({ handler: 'handler: () => undefined, // TS2322' }),
  'a part of the request that is not declared': get({
    request: 'request: { query: z.object({ id: z.string() }) },',
    handler: 'handler: ({ body }) => ({ id: Number(body) }), // TS2339',
  }),
  'a field of the request that is not declared': get({
    request: 'request: { query: z.object({ id: z.string() }) },',
    handler: 'handler: ({ query: { name } }) => ({ id: Number(name) }), // TS2339',
  }),
  'a field of the request taken for another type': post({
    request: 'request: { body: z.object({ id: z.string() }) },',
    handler: 'handler: ({ body: { id } }) => ({ id }), // TS2322',
  }),
  'an unknown role': get({ auth: `auth: 'member', // TS2322` }),
  'a proof that is not asked for': get({ auth: `auth: 'user',\n  stepUp: false, // TS2322` }),
  'an unknown kind of targets': get({ auth: `auth: 'user',\n  targets: 'some', // TS2322` }),
  'targets that are no list': get({ auth: `auth: 'user',\n  targets: () => 'host', // TS2322` }),
  'targets from a part of the request that is not declared': post({
    auth: `auth: 'user',\n  targets: ({ body }) => [String(body)], // TS2339`,
  }),
  'without a summary': get({ summary: '', opening: ' // TS2345' }),
  'without a description': get({ description: '', opening: ' // TS2345' }),
  'an example with a wrong response': get({ example: `example: { response: { id: 'one' } }, // TS2322` }),
  'an example without an answer': get({ example: 'example: {}, // TS2322' }),
  'an example with another body': post({
    request: 'request: { body: z.object({ name: z.string() }) },',
    example: 'example: { body: { name: 1 }, response: { id: 1 } }, // TS2322',
  }),
  'an example with a part of the request that is not declared': post({
    example: 'example: { body: {}, response: { id: 1 } }, // TS2353',
  }),
  'a misspelt field': get({ status: 'retries: 3, // TS2353' }),
  'an undeclared status': get({ status: 'status: 299, // TS2322' }),
  'a socket with a body': socket({ request: 'request: { body: z.string() }, // TS2322' }),
  'a socket without auth': socket({ auth: '', opening: ' // TS2345' }),
  'a socket without rateLimit': socket({ rateLimit: '', opening: ' // TS2345' }),
  'a socket without its frames': socket({ sends: '', opening: ' // TS2345' }),
  'a socket without its ends': socket({ closes: '', opening: ' // TS2345' }),
  'a socket that says of an unknown end when it comes': socket({ closes: `closes: { bored: 'Soon.' }, // TS2353` }),
  'a frame with a wrong example': socket({
    sends: `sends: { thing: textFrame('It has changed.', z.object({ id: z.string() }), { id: 1 }) }, // TS2322`,
  }),
  'a socket without a summary': socket({ summary: '', opening: ' // TS2345' }),
  'a socket outside /ws/': socket({ path: `path: '/api/things', // TS2322` }),
  'a socket with :id without params': socket({ path: `path: '/ws/things/:id',`, opening: ' // TS2345' }),
  'a socket with :id and other params': socket({
    path: `path: '/ws/things/:id',`,
    request: 'request: { params: z.object({ name: z.string() }) }, // TS2375',
  }),
  'a socket that takes its optional user for granted': socket({
    auth: `auth: 'optional',`,
    open: 'open(_, { user, socket }) { if (user.enrolling) socket.close("done") }, // TS18048',
  }),
  'a socket that takes a user for granted where there is none': socket({
    auth: `auth: 'none',`,
    open: 'open(_, { user, socket }) { if (user.enrolling) socket.close("done") }, // TS18048',
  }),
  'a socket that closes with an unknown reason': socket({
    open: `open(_, { socket }) { socket.close('bored') }, // TS2345`,
  }),
  'a part of the request taken where no request is declared': post({
    handler: 'handler: ({ body }) => ({ id: body }), // TS2339',
  }),
  'a cookie that is not declared': post({
    request: 'request: { cookies: z.object({ one: z.string() }) },',
    handler: 'handler: ({ cookies: { two } }) => ({ id: Number(two) }), // TS2339',
  }),
  'a cookie taken for another type': post({
    request: 'request: { cookies: z.object({ one: z.string() }) },',
    handler: 'handler: ({ cookies: { one } }) => ({ id: one }), // TS2322',
  }),
  'a cookie that may be missing, taken for granted': post({
    request: 'request: { cookies: z.object({ one: z.string().optional() }) },',
    handler: 'handler: ({ cookies: { one } }) => ({ id: one.length }), // TS18048',
  }),
  'cookies where none are declared': post({
    request: 'request: { body: z.object({ id: z.number() }) },',
    handler: 'handler: ({ cookies }) => ({ id: Number(cookies) }), // TS2339',
  }),
  'cookies that are no object': post({ request: 'request: { cookies: z.string() }, // TS2740' }),
  'a path that only resembles /.well-known/': get({ path: `path: '/.well-known', // TS2322` }),
  'a socket under /.well-known/': socket({ path: `path: '/.well-known/things', // TS2322` }),
  'a task that does not say how often': task({ every: '', opening: ' // TS2741' }),
  'a task that takes no time': task({ run: 'run: () => undefined, // TS2322' }),
  'a command without a summary': command({ summary: '', opening: ' // TS2741' }),
  'a command that prints nothing': command({ run: 'run: async () => undefined, // TS2322' }),
  'a GET with a body, which no client can send': get({
    request: 'request: { body: z.object({ id: z.number() }) }, // TS2322',
  }),
  'a status by word, without a status in the answer': get({ status: 'status: { ok: 200 }, // TS2322' }),
  'a status by word that lacks a word of the answer': get({
    status: 'status: { ok: 200 }, // TS2322',
    response: `response: z.object({ status: z.enum(['ok', 'degraded']) }),`,
    handler: `handler: () => ({ status: 'ok' as const }),`,
  }),
}

interface Complaint {
  line: number
  code: string
}

const complaints = new Map<string, Complaint[]>()
let folder: string

const fileOf = (index: number) => `case-${index}.ts`
const cases = [...Object.entries(CORRECT), ...Object.entries(WRONG)]

beforeAll(() => {
  // Outside of the project, whose own type check must never see these files.
  folder = mkdtempSync(join(tmpdir(), 'ops-panel-declarations-'))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ extends: `${ROOT}/tsconfig.json`, include: ['*.ts'] }))
  for (const [index, [, source]] of cases.entries()) writeFileSync(join(folder, fileOf(index)), IMPORTS + source)

  const compiler = join(ROOT, 'node_modules/.bin/tsc')
  const { stdout } = spawnSync(compiler, ['--pretty', 'false'], { cwd: folder, encoding: 'utf8' })
  for (const [, file = '', line, code = ''] of stdout.matchAll(/^(\S+?)\((\d+),\d+\): error (TS\d+): /gm)) {
    complaints.set(file, [...(complaints.get(file) ?? []), { line: Number(line), code }])
  }
})

afterAll(() => rmSync(folder, { recursive: true }))

function expected(source: string): Complaint[] {
  return (IMPORTS + source).split('\n').flatMap((text, at) => {
    const code = /\/\/ (TS\d+)$/.exec(text)?.[1]
    return code === undefined ? [] : [{ line: at + 1, code }]
  })
}

const found = (name: string) => complaints.get(fileOf(cases.findIndex(([each]) => each === name))) ?? []

test('the compiler ran over the cases, and found no other error', () => {
  const files = cases.map((_, index) => fileOf(index))

  expect(complaints.size).toBeGreaterThan(0)
  expect(files).toEqual(expect.arrayContaining([...complaints.keys()]))
})

test.each(Object.keys(CORRECT))('compiles: %s', (name) => {
  expect(found(name)).toEqual([])
})

test.each(Object.entries(WRONG))('does not compile: %s', (name, source) => {
  expect(expected(source)).toHaveLength(1)
  expect(found(name)).toEqual(expected(source))
})

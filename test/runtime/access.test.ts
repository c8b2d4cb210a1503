import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import * as z from 'zod'
import { saveUser } from '../../db/users.ts'
import { defineFunction, defineSocket } from '../../functions/services.ts'
import { PROOF_SECONDS } from '../../runtime/access.ts'
import type { AuditNote } from '../../runtime/context.ts'
import { type AnyFunction, codesOf } from '../../runtime/function.ts'
import type { Bearer } from '../../sessions/sessions.ts'
import { START, testApp } from '../app.ts'
import { bearerOf } from '../bearer.ts'
import { answered, refusals, refused } from '../functions/answers.ts'
import { listening } from '../serve/listening.ts'

const PROBE = { summary: 'A probe', description: 'Made for a test.' }

const ran: string[] = []

const root = defineFunction({
  ...{ ...PROBE, method: 'POST', path: '/api/probe/root' },
  auth: 'admin',
  stepUp: true,
  targets: ({ body: { target } }) => [target],
  rateLimit: { limit: 3, seconds: 60, by: 'user' },
  audit: false,
  request: { body: z.object({ target: z.string() }) },
  response: z.null(),
  handler({ body: { target } }) {
    ran.push(target)
    return null
  },
})

const work = defineFunction({
  ...{ ...PROBE, method: 'POST', path: '/api/probe/work' },
  auth: 'operator',
  targets: ({ body: { targets } }) => targets,
  rateLimit: false,
  audit: false,
  request: { body: z.object({ targets: z.array(z.string()).optional() }) },
  response: z.null(),
  handler: () => null,
})

async function start(fns: readonly AnyFunction[] = [root, work]) {
  const app = await testApp(fns)
  const { id } = await saveUser(app.db, 'alice', true, START.toISOString())
  const token = (more: Partial<Bearer> = {}) =>
    app.services.sessions.accessToken({ ...bearerOf({ id, username: 'alice', isAdmin: true }, START), ...more })
  const ask = async (fn: AnyFunction, body: unknown, more: Partial<Bearer> = {}) =>
    app.request(fn.method, fn.path, { body, headers: { authorization: `Bearer ${await token(more)}` } })
  return { ...app, token, ask }
}

const SECONDS = START.getTime() / 1000
const OLD = { proven: SECONDS - PROOF_SECONDS - 1 }
const WEB = { role: 'operator', operates: ['lxc:101', 'lxc:102'] } as const

test('a proof counts for 15 minutes, and not a second longer', async () => {
  const { ask } = await start()

  await answered(await ask(root, { target: 'host' }, { proven: SECONDS - PROOF_SECONDS }), 200)
  const { error } = await refused(await ask(root, { target: 'host' }, OLD), 403, 'step_up_required')

  expect(error).toMatch(/^Confirmez d’abord/)
})

test('a proof of the future, from before the clock was set back, counts no longer than another one', async () => {
  const { ask } = await start()

  await answered(await ask(root, { target: 'host' }, { proven: SECONDS + 60 }), 200)
  await refused(await ask(root, { target: 'host' }, { proven: SECONDS + 86_400 }), 403, 'step_up_required')
})

test('the proof is asked for after the role and the limit, and before the body', async () => {
  const { ask } = await start()
  ran.length = 0

  await refused(await ask(root, '{', { ...OLD, role: 'operator' }), 403, 'forbidden')
  await refused(await ask(root, 'x'.repeat(2 * 1024 * 1024), OLD), 403, 'step_up_required')
  await refused(await ask(root, '{', OLD), 403, 'step_up_required')
  await refused(await ask(root, '{'), 400, 'invalid_json')
  await refused(await ask(root, '{', OLD), 429, 'rate_limited')

  expect(ran).toEqual([])
})

test('a request for several targets needs all of them, and one without any is refused', async () => {
  const { ask } = await start()

  await answered(await ask(work, { targets: ['lxc:101', 'lxc:102'] }, WEB), 200)
  for (const targets of [['lxc:101', 'host'], ['all'], ['lxc:1'], ['lxc:101 '], ['LXC:101'], [], undefined])
    await refused(await ask(work, { targets }, WEB), 403, 'target_forbidden')
  // A caller who works on all targets need not name one that exists.
  await answered(await ask(work, { targets: [] }), 200)
})

test('each 403 is in the audit log with code, operation and targets; repeated ones at 1, 2, 4, 8 … with their number', async () => {
  const { ask, db, request, advance } = await start()
  await request('POST', work.path, { body: {} })
  for (let n = 0; n < 10; n += 1) await ask(work, { targets: ['lxc:101', 'host'] }, WEB)
  await ask(work, { targets: [] }, { role: 'viewer', operates: [] })
  await ask(root, { target: 'host' }, OLD)
  advance(60_000)
  await ask(work, { targets: ['host'] }, WEB)

  const base = { function: 'POST /api/probe/work' }
  const entries = (await refusals(db)).map(({ username, target, details }) => [username, target, details])
  const both = { ...base, code: 'target_forbidden' }
  expect(entries).toEqual([
    ['alice', 'lxc:101,host', both],
    ...[2, 4, 8].map((count) => ['alice', 'lxc:101,host', { ...both, refused: count }]),
    ['alice', null, { ...base, code: 'forbidden' }],
    ['alice', null, { ...base, function: 'POST /api/probe/root', code: 'step_up_required' }],
    ['alice', 'host', both],
  ])
})

test('of one operation, at most 1,000 refusals an hour are in the audit log', async () => {
  const { db, services, app } = await start()
  const headersOf = async (id: number) => ({
    authorization: `Bearer ${await services.sessions.accessToken({ ...bearerOf({ id, username: `u${id}` }, START), role: 'viewer', operates: [] })}`,
  })
  // Each user is refused for the first time. The entries name users that are gone, as tokens may.
  const { limiter } = services
  for (let n = 0; n < 999; n += 1)
    await limiter.admit('audited refusals', 'POST /api/probe/work', { limit: 1_000, seconds: 3_600, by: 'address' })

  for (const id of [1, 2, 3])
    expect((await app.request(work.path, { method: 'POST', headers: await headersOf(id) })).status).toBe(403)

  expect(await refusals(db)).toHaveLength(1)
})

const DECLARED = { rateLimit: false } as const
test.each([
  [{ auth: 'none' }, []],
  [{ auth: 'optional', targets: 'none', whileEnrolling: true }, []],
  [{ auth: 'optional' }, ['enrolment_required', 'target_forbidden']],
  [{ auth: 'user', targets: 'none', whileEnrolling: true }, ['unauthenticated', 'rate_limited']],
  [{ auth: 'user', targets: 'own' }, ['unauthenticated', 'rate_limited', 'enrolment_required']],
  [{ auth: 'user' }, ['unauthenticated', 'rate_limited', 'enrolment_required', 'target_forbidden']],
  [
    { auth: 'user', credential: 'session', targets: 'none' },
    ['unauthenticated', 'rate_limited', 'forbidden', 'enrolment_required'],
  ],
  [
    { auth: 'operator', targets: () => ['host'] },
    ['unauthenticated', 'rate_limited', 'forbidden', 'enrolment_required', 'target_forbidden'],
  ],
  [
    { auth: 'admin', stepUp: true },
    ['unauthenticated', 'rate_limited', 'forbidden', 'enrolment_required', 'target_forbidden', 'step_up_required'],
  ],
] as const)('the codes that follow from %j', (demand, codes) => {
  expect([...codesOf({ ...DECLARED, ...demand })]).toEqual([...codes, 'storage_failed', 'internal'])
})

const shell = defineSocket({
  ...{ ...PROBE, path: '/ws/probe/shell' },
  auth: 'operator',
  stepUp: true,
  targets: ({ query: { target } }) => [target],
  rateLimit: false,
  request: { query: z.object({ target: z.string() }) },
  sends: {},
  closes: {},
  open() {},
})

async function sockets() {
  const app = await start([])
  const { url } = await listening(app.services, { sockets: [shell] })
  const open = async (target: string, more: Partial<Bearer> = {}) => {
    const query = target === '' ? '' : `?target=${target}`
    const ws = new WebSocket(url.replace('http', 'ws') + shell.path + query, [
      'panel.v1',
      `bearer.${await app.token(more)}`,
    ])
    onTestFinished(() => ws.terminate())
    const end = once(ws, 'close').then(([code, reason]) => [Number(code), String(reason)])
    await once(ws, 'open')
    return {
      end,
      renew: async (renewed: Partial<Bearer>) =>
        ws.send(JSON.stringify({ type: 'auth', token: await app.token(renewed) })),
    }
  }
  return { ...app, open }
}

test.each([
  ['an old proof', 'host', OLD, 'step_up_required'],
  ['a target of somebody else', 'host', WEB, 'target_forbidden'],
  ['a factor that is missing', 'host', { enrolling: true }, 'enrolment_required'],
  ['a role that is too low', 'host', { role: 'viewer', operates: [] }, ''],
] as const)(
  'a socket closes with 4403 for %s, with the word, and the audit log has it',
  async (_, target, more, word) => {
    const { open, db } = await sockets()

    expect(await (await open(target, more)).end).toEqual([4403, word])

    const code = word || 'forbidden'
    expect(await refusals(db)).toMatchObject([
      { username: 'alice', details: { code, function: 'GET /ws/probe/shell' } },
    ])
  },
)

test('a refusal that the handler itself has told is not told again; another entry before it is no such word', async () => {
  const telling = (path: `/api/${string}`, action: 'factor_refused' | 'settings_changed', note: AuditNote) =>
    defineFunction({
      ...{ ...PROBE, method: 'POST', path },
      auth: 'user',
      rateLimit: false,
      audit: [action],
      response: z.null(),
      errors: ['proof_required'],
      async handler(_, { audit, fail }) {
        await audit(action, note)
        throw fail('proof_required')
      },
    })
  const told = telling('/api/probe/told', 'settings_changed', { isRefusal: true })
  const done = telling('/api/probe/done', 'factor_refused', {})
  const { ask, db } = await start([told, done])

  for (const fn of [told, done]) await refused(await ask(fn, {}), 403, 'proof_required')

  expect(await refusals(db)).toMatchObject([{ details: { code: 'proof_required', function: 'POST /api/probe/done' } }])
})

test('an address that its schema rejects is no way to open a socket with less', async () => {
  const { open } = await sockets()

  expect(await (await open('', WEB)).end).toEqual([1008, 'invalid_request'])
  expect(await (await open('', { role: 'viewer', operates: [] })).end).toEqual([4403, ''])
})

test('a socket stays open when its token is renewed later than its proof, and closes when the rights have shrunk', async () => {
  const { open } = await sockets()
  const [kept, lost, viewer] = [await open('lxc:101', WEB), await open('lxc:101', WEB), await open('lxc:101', WEB)]

  await kept.renew({ ...WEB, ...OLD })
  await lost.renew({ ...WEB, operates: ['lxc:102'] })
  await viewer.renew({ role: 'viewer', operates: [] })

  expect(await lost.end).toEqual([4403, ''])
  expect(await viewer.end).toEqual([4403, ''])
  await kept.renew({ ...WEB, operates: [] })
  expect(await kept.end).toEqual([4403, ''])
})

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { answered, audited, refused, rows } from '../answers.ts'
import { OPERATOR, startWithOwners, VIEWER, WEB } from './owner.ts'

const PATH = '/api/auth/tokens'
const DAY = 86_400_000
const START = '2026-03-01T12:00:00.000Z'
const Listed = z.array(
  z.looseObject({ id: z.number(), username: z.string(), name: z.string(), effective_role: z.string().nullable() }),
)

test('a token is shown once, stored as its hash alone, and listed without it', async () => {
  const { signedIn, db, lines } = await startWithOwners()
  const alice = await signedIn('alice')

  const { id, token } = await alice.make({ role: 'operator', targets: ['host', 'lxc:101'] })

  expect(token).toMatch(/^opt_[\w-]{43}$/)
  const hash = createHash('sha256').update(token).digest('hex')
  expect(await rows(db, 'SELECT hash FROM api_tokens')).toEqual([{ hash }])
  const text = await (await alice.send('GET', PATH)).text()
  expect(JSON.parse(text)).toEqual([
    {
      id,
      username: 'alice',
      name: 'Supervision',
      role: 'operator',
      targets: ['host', 'lxc:101'],
      effective_role: 'operator',
      created_at: START,
      expires_at: '2026-05-30T12:00:00.000Z',
      last_used_at: null,
      last_ip: null,
    },
  ])
  for (const place of [text, JSON.stringify(await audited(db)), lines().join('\n')]) {
    expect(place).not.toContain(token.slice(4))
    expect(place).not.toContain(hash)
  }
})

test('making and revoking are audited with name, role, targets and expiry', async () => {
  const { signedIn, db } = await startWithOwners()
  const alice = await signedIn('alice')
  const { id } = await alice.make({ name: 'Sauvegarde', role: 'operator', targets: ['host'], expires_in_days: 1 })

  expect(await answered(await alice.send('DELETE', `${PATH}/${id}`), 200)).toEqual({ message: 'Jeton révoqué.' })

  const told = { role: 'operator', targets: 'host', expires_at: '2026-03-02T12:00:00.000Z', id }
  expect((await audited(db)).filter(({ action }) => action.startsWith('token_'))).toMatchObject([
    { action: 'token_created', username: 'alice', target: 'Sauvegarde', details: told },
    { action: 'token_revoked', username: 'alice', target: 'Sauvegarde', details: { ...told, owner: 'alice' } },
  ])
})

test.each([
  [{}, 90 * DAY],
  [{ expires_in_days: 1 }, DAY],
  [{ expires_in_days: 400 }, 400 * DAY],
  [{ expires_at: '2026-03-02T13:00:00+01:00' }, DAY],
  [{ expires_at: null }, undefined],
])('%j expires when it says', async (body, after) => {
  const { signedIn, db } = await startWithOwners()
  await (await signedIn('alice')).make(body)

  const expires_at = after === undefined ? null : new Date(Date.parse(START) + after).toISOString()
  expect(await rows(db, 'SELECT expires_at FROM api_tokens')).toEqual([{ expires_at }])
})

test.each([
  ['no days', { expires_in_days: 0 }],
  ['too many days', { expires_in_days: 401 }],
  ['never, as days', { expires_in_days: null }],
  ['a date without time', { expires_at: '2026-03-02' }],
  ['no name', { name: ' ' }],
  ['a long name', { name: 'a'.repeat(65) }],
  ['an invisible name', { name: 'a\u202eb' }],
  ['an unknown role', { role: 'root' }],
  ['no targets', { targets: [] }],
  ['every container as a target', { targets: ['all'] }],
  ['a target that is none', { targets: ['lxc:101', 'lxc:$(id)'] }],
  ['too many targets', { targets: Array.from({ length: 201 }, (_, n) => `lxc:${n + 1}`) }],
  ['an unknown field', { target: 'host' }],
])('%s is refused', async (_, body) => {
  const { signedIn, db } = await startWithOwners()
  const alice = await signedIn('alice')

  const wanted = { name: 'x', role: 'viewer', targets: 'all', ...body }
  await refused(await alice.send('POST', PATH, wanted), 400, 'invalid_request')

  expect(await rows(db, 'SELECT id FROM api_tokens')).toEqual([])
})

test.each([
  ['two expiries', { expires_in_days: 1, expires_at: null }],
  ['a date that is over', { expires_at: '2020-01-01T00:00:00Z' }],
  ['a date after 400 days', { expires_at: '2099-01-01T00:00:00Z' }],
])('%s are refused', async (_, body) => {
  const { signedIn, db } = await startWithOwners()
  const alice = await signedIn('alice')

  const wanted = { name: 'x', role: 'viewer', targets: 'all', ...body }
  await refused(await alice.send('POST', PATH, wanted), 400, 'token_expiry_invalid')

  expect(await rows(db, 'SELECT id FROM api_tokens')).toEqual([])
})

test.each([
  [
    'a viewer',
    VIEWER,
    [['viewer', 'all']],
    [
      ['operator', ['host']],
      ['admin', 'all'],
    ],
  ],
  [
    'an operator',
    OPERATOR,
    [
      ['viewer', 'all'],
      ['operator', 'all'],
      ['operator', ['lxc:9']],
    ],
    [['admin', ['host']]],
  ],
  [
    'an operator of two containers',
    WEB,
    [
      ['viewer', 'all'],
      ['viewer', ['host']],
      ['operator', ['lxc:102']],
    ],
    [
      ['operator', 'all'],
      ['operator', ['lxc:101', 'host']],
      ['admin', ['lxc:101']],
    ],
  ],
] as const)('%s makes tokens with at most their own rights', async (_, word, allowed, exceeding) => {
  const { signedIn } = await startWithOwners()
  const owner = await signedIn('bob', word)

  for (const [role, targets] of allowed) await owner.make({ role, targets })
  for (const [role, targets] of exceeding)
    await refused(await owner.send('POST', PATH, { name: 'x', role, targets }), 403, 'token_exceeds')
})

test('a user has at most 50 tokens that have not expired; old ones are removed 30 days after', async () => {
  const { signedIn, db, advance } = await startWithOwners()
  const bob = await signedIn('bob')
  const alice = await signedIn('alice')
  for (let n = 0; n < 49; n += 1) await bob.make({ expires_in_days: n === 0 ? 1 : 60 })
  const [one, other] = await Promise.all(
    [1, 2].map(() => bob.send('POST', PATH, { name: 'x', role: 'viewer', targets: 'all' })),
  )

  expect([one?.status, other?.status].sort()).toEqual([201, 409])
  await refused(await bob.send('POST', PATH, { name: 'x', role: 'viewer', targets: 'all' }), 409, 'tokens_full')
  await alice.make()
  expect((await audited(db)).filter(({ action }) => action === 'token_created')).toHaveLength(51)

  advance(DAY)
  const later = await signedIn('bob')
  await later.make()
  expect(await rows(db, 'SELECT count(*) AS n FROM api_tokens')).toEqual([{ n: 52 }])
  advance(31 * DAY)
  await (await signedIn('bob')).send('DELETE', `${PATH}/2`)
  await (await signedIn('bob')).make()
  expect(await rows(db, 'SELECT count(*) AS n FROM api_tokens')).toEqual([{ n: 51 }])
})

test('each sees their own tokens, administrators everybody’s, and nobody a token of another by its number', async () => {
  const { signedIn } = await startWithOwners()
  const [alice, bob] = [await signedIn('alice'), await signedIn('bob')]
  const [hers, his] = [await alice.make({ name: 'hers' }), await bob.make({ name: 'his' })]
  const ids = async (client: typeof bob, path = PATH) =>
    Listed.parse(await answered(await client.send('GET', path), 200)).map(({ id, username }) => [id, username])

  expect(await ids(bob)).toEqual([[his.id, 'bob']])
  expect(await ids(alice)).toEqual([[hers.id, 'alice']])
  expect(await ids(alice, `${PATH}?all=true`)).toEqual([
    [his.id, 'bob'],
    [hers.id, 'alice'],
  ])
  await refused(await bob.send('GET', `${PATH}?all=true`), 403, 'forbidden')
  for (const id of [String(hers.id), '99', '0', '-1', '1.0', 'x', '9'.repeat(16)])
    await refused(await bob.send('DELETE', `${PATH}/${id}`), 404, 'token_missing')
  expect((await alice.send('DELETE', `${PATH}/${his.id}`)).status).toBe(200)
  await refused(await alice.send('DELETE', `${PATH}/${his.id}`), 404, 'token_missing')
})

test('an old proof makes and revokes no token, and is refused before the body is read', async () => {
  const { signedIn, db, advance, app } = await startWithOwners()
  const alice = await signedIn('alice')
  const { id } = await alice.make()
  advance(890_000)
  const { access_token } = z
    .object({ access_token: z.string() })
    .parse(
      await answered(
        await app.request('POST', '/api/auth/refresh', { headers: { cookie: `svc_refresh=${alice.refresh}` } }),
        200,
      ),
    )
  advance(11_000)
  const headers = { authorization: `Bearer ${access_token}` }

  await refused(await app.request('POST', PATH, { headers, body: '{' }), 403, 'step_up_required')
  await refused(await app.request('DELETE', `${PATH}/${id}`, { headers }), 403, 'step_up_required')
  expect(await rows(db, 'SELECT id FROM api_tokens')).toEqual([{ id }])
})

test('a token neither lists, makes nor revokes tokens', async () => {
  const { signedIn, use, db } = await startWithOwners()
  const alice = await signedIn('alice')
  const { id, token } = await alice.make({ role: 'admin' })

  await refused(await use(token, PATH), 403, 'forbidden')
  const body = { name: 'x', role: 'viewer', targets: 'all' }
  await refused(await use(token, PATH, { method: 'POST', body }), 403, 'forbidden')
  await refused(await use(token, `${PATH}/${id}`, { method: 'DELETE' }), 403, 'forbidden')
  expect(await rows(db, 'SELECT id FROM api_tokens')).toEqual([{ id }])
})

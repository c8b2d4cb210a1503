import { expect, test } from 'vitest'
import layoutGet from '../../../functions/dashboard/layout.get.ts'
import layoutPut from '../../../functions/dashboard/layout.put.ts'
import { type As, testApp } from '../../app.ts'
import { answered, audited, refused, rows } from '../answers.ts'

const PATH = '/api/dashboard/layout'
const LIMIT = 64 * 1024

const start = () => testApp([layoutGet, layoutPut])
type App = Awaited<ReturnType<typeof start>>

const put = (app: App, body: unknown, as: As = 'user') => app.request('PUT', PATH, { as, body })
const get = async (app: App, as: As = 'user') => answered(await app.request('GET', PATH, { as }), 200)
const stored = (app: App) => rows(app.db, 'SELECT user_id FROM dashboard_layouts')

/** Returns an object whose JSON text has this many bytes. */
const sized = (bytes: number, char = 'x') => {
  const room = bytes - '{"a":""}'.length
  const text = char.repeat(Math.floor(room / Buffer.byteLength(char)))
  return { a: text + 'x'.repeat(room - Buffer.byteLength(text)) }
}

test('a user without a stored layout gets the default, and reading stores nothing', async () => {
  const app = await start()

  expect(await get(app)).toEqual({
    version: 1,
    widgets: ['attention', 'containers', 'jobs', 'shortcuts'].map((id) => ({ id, hidden: false })),
  })
  expect(await stored(app)).toEqual([])
})

test.each([
  [{}],
  [{ version: 2, widgets: [{ id: 'jobs', hidden: true }] }],
  [{ deep: { deeper: [[[null, true, 0.1, -0, 'é', '\0', '\ud800', '']]] }, '': 1, 'a.b': 'ʻ' }],
])('%j is returned unchanged', async (layout) => {
  const app = await start()

  expect(await answered(await put(app, layout), 200)).toEqual({ message: 'Tableau de bord enregistré.' })

  expect(await get(app)).toEqual(JSON.parse(JSON.stringify(layout)))
  expect(await audited(app.db)).toEqual([])
})

test('each user has one layout, and the newest version replaces the others', async () => {
  const app = await start()
  await answered(await put(app, { of: 'bob' }), 200)
  await answered(await put(app, { of: 'alice' }, 'admin'), 200)
  await answered(await put(app, { of: 'bob', again: true }), 200)

  expect(await get(app)).toEqual({ of: 'bob', again: true })
  expect(await get(app, 'admin')).toEqual({ of: 'alice' })
  expect(await stored(app)).toHaveLength(2)
})

test.each([['[]'], ['null'], ['"x"'], ['1'], ['true'], ['[{}]']])(
  '%s is not an object, and is not stored',
  async (body) => {
    const app = await start()
    await answered(await put(app, { before: true }), 200)

    await refused(await put(app, body), 400, 'invalid_request')

    expect(await get(app)).toEqual({ before: true })
  },
)

test.each([[''], ['{']])('a body of %j is unreadable', async (body) => {
  const app = await start()

  await refused(await put(app, body), 400, 'invalid_json')

  expect(await stored(app)).toEqual([])
})

test.each(['x', 'é', '🙂'])(
  '64 KiB of %s are stored; one byte more is 413 and keeps the stored layout',
  async (char) => {
    const app = await start()
    const full = sized(LIMIT, char)
    expect(Buffer.byteLength(JSON.stringify(full))).toBe(LIMIT)
    await answered(await put(app, full), 200)

    const { error } = await refused(await put(app, sized(LIMIT + 1, char)), 413, 'body_too_large')

    expect(error).toBe('Le corps de la requête dépasse 64 Kio.')
    expect(await get(app)).toEqual(full)
  },
)

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

test('32 levels are stored unchanged; more are refused, at any depth, and keep the stored layout', async () => {
  const app = await start()
  await answered(await put(app, nested(32)), 200)

  for (const levels of [33, 10_000, 100_000])
    expect(await refused(await put(app, nested(levels)), 400, 'invalid_request')).toMatchObject({
      details: [{ field: '', message: '32 niveaux au plus' }],
    })
  await refused(await put(app, `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`), 400, 'invalid_request')

  expect(await get(app)).toEqual(JSON.parse(nested(32)))
})

test('white space between JSON tokens does not count', async () => {
  const app = await start()

  await answered(await put(app, `{"a":${' '.repeat(LIMIT)}1}`), 200)

  expect(await get(app)).toEqual({ a: 1 })
})

test('a deleted user stores nothing: 404', async () => {
  const app = await start()
  const headers = { authorization: `Bearer ${await app.tokenFor('user')}` }
  await app.db.run('DELETE FROM users')

  await refused(await app.request('PUT', PATH, { headers, body: {} }), 404, 'profile_missing')

  expect(await stored(app)).toEqual([])
})

test('without a token the answer is 401', async () => {
  const app = await start()

  await refused(await app.request('GET', PATH), 401, 'unauthenticated')
  await refused(await app.request('PUT', PATH, { body: {} }), 401, 'unauthenticated')

  expect(await stored(app)).toEqual([])
})

test('a storage failure gives 500', async () => {
  const app = await start()
  await app.db.script('DROP TABLE dashboard_layouts')

  await refused(await app.request('GET', PATH, { as: 'user' }), 500, 'storage_failed')
  await refused(await put(app, {}), 500, 'storage_failed')
})

import { expect, test } from 'vitest'
import { saveUser } from '../../../db/users.ts'
import me from '../../../functions/auth/me.get.ts'
import preferencesRead from '../../../functions/auth/preferences.get.ts'
import preferences from '../../../functions/auth/preferences.patch.ts'
import { START, testApp } from '../../app.ts'
import { answered, auditedActions, refused } from '../answers.ts'

const PATH = '/api/auth/preferences'
const DEFAULTS = { lang: 'fr', theme: 'dark', sidebar_position: 'left' }

const start = () => testApp([me, preferences, preferencesRead])
type App = Awaited<ReturnType<typeof start>>

const patch = (app: App, body: unknown) => app.request('PATCH', PATH, { as: 'user', body })
const stored = async (app: App) => answered(await app.request('GET', '/api/auth/me', { as: 'user' }), 200)

test.each([
  ['lang', 'en'],
  ['lang', 'fr'],
  ['theme', 'light'],
  ['theme', 'dark'],
  ['sidebar_position', 'right'],
  ['sidebar_position', 'left'],
])('%s becomes %s, and the other preferences stay as they are', async (field, value) => {
  const app = await start()

  expect(await answered(await patch(app, { [field]: value }), 200)).toEqual({ message: 'Préférences enregistrées.' })

  expect(await stored(app)).toMatchObject({ ...DEFAULTS, [field]: value })
  expect(await auditedActions(app.db)).toEqual([])
})

test('preferences have default values until the user sets them, independently of other users', async () => {
  const app = await start()
  const read = async (as: 'user' | 'admin') => answered(await app.request('GET', PATH, { as }), 200)
  expect(await read('user')).toEqual({ ...DEFAULTS, chosen: false })
  await refused(await patch(app, { theme: 'blue' }), 400, 'preference_invalid')
  expect(await read('user')).toEqual({ ...DEFAULTS, chosen: false })

  await answered(await patch(app, { theme: 'dark' }), 200)

  expect(await read('user')).toEqual({ ...DEFAULTS, chosen: true })
  expect(await read('admin')).toEqual({ ...DEFAULTS, chosen: false })
  await refused(await app.request('GET', PATH), 401, 'unauthenticated')
})

test('several preferences can change at once, and change back', async () => {
  const app = await start()
  const other = { lang: 'en', theme: 'light', sidebar_position: 'right' }

  await answered(await patch(app, other), 200)
  expect(await stored(app)).toMatchObject(other)
  await answered(await patch(app, DEFAULTS), 200)
  expect(await stored(app)).toMatchObject(DEFAULTS)
})

test('only the caller’s preferences change', async () => {
  const app = await start()
  const alice = await saveUser(app.db, 'alice', true, START.toISOString())

  await answered(await patch(app, { theme: 'light' }), 200)

  expect(await saveUser(app.db, 'alice', true, START.toISOString())).toEqual(alice)
})

test.each([
  ['nothing', {}],
  ['unknown fields', { colour: 'red', is_admin: true, username: 'root', __proto__: { theme: 'light' } }],
])('%s changes nothing', async (_, body) => {
  const app = await start()

  await answered(await patch(app, body), 200)

  expect(await stored(app)).toMatchObject({ ...DEFAULTS, username: 'bob', is_admin: false })
})

test.each([
  ['lang', 'de', 'fr, en'],
  ['lang', 'FR', 'fr, en'],
  ['lang', '', 'fr, en'],
  ['lang', null, 'fr, en'],
  ['theme', 'blue', 'dark, light'],
  ['theme', 1, 'dark, light'],
  ['theme', null, 'dark, light'],
  ['theme', ['dark'], 'dark, light'],
  ['sidebar_position', 'top', 'left, right'],
  ['sidebar_position', false, 'left, right'],
  ['sidebar_position', null, 'left, right'],
  ['sidebar_position', { left: true }, 'left, right'],
])('%s: %j is invalid, and the answer lists the valid values', async (field, value, possible) => {
  const app = await start()

  const { error, details } = await refused(await patch(app, { [field]: value }), 400, 'preference_invalid')

  expect(error).toBe(`Préférence invalide : ${field}`)
  expect(details).toEqual([{ field, message: `valeurs possibles : ${possible}` }])
  expect(await stored(app)).toMatchObject(DEFAULTS)
})

test('only the first of several invalid preferences is reported', async () => {
  const app = await start()

  const { details } = await refused(
    await patch(app, { sidebar_position: 1, theme: 2, lang: 'en' }),
    400,
    'preference_invalid',
  )

  expect(details?.map(({ field }) => field)).toEqual(['theme'])
  expect(await stored(app)).toMatchObject({ ...DEFAULTS, lang: 'en' })
})

test.each([['null'], ['[]'], ['[{"theme":"light"}]'], ['"light"'], ['3'], ['true']])(
  'a body of %s is not an object',
  async (body) => {
    const app = await start()

    await refused(await patch(app, body), 400, 'invalid_request')

    expect(await stored(app)).toMatchObject(DEFAULTS)
  },
)

test('without a token the answer is 401, and nothing changes', async () => {
  const app = await start()
  await app.tokenFor('user')

  await refused(await app.request('PATCH', PATH, { body: { theme: 'light' } }), 401, 'unauthenticated')

  expect(await stored(app)).toMatchObject(DEFAULTS)
})

test('a deleted profile gives 404', async () => {
  const app = await start()
  const headers = { authorization: `Bearer ${await app.tokenFor('user')}` }
  await app.db.run('DELETE FROM users')

  await refused(await app.request('PATCH', PATH, { headers, body: { theme: 'light' } }), 404, 'profile_missing')
})

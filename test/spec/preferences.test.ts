import { expect, test } from 'vitest'
import { answered, refused } from '../functions/answers.ts'
import { newAddress, type SignedIn, startPanel } from './client.ts'

const panel = await startPanel()

const DEFAULTS = { lang: 'fr', theme: 'dark', sidebar_position: 'left' }
const OTHERS = { lang: 'en', theme: 'light', sidebar_position: 'right' }

const patch = ({ token }: SignedIn, body: unknown) => panel.send('PATCH', '/api/auth/preferences', { token, body })
const signIn = () => panel.login(panel.freshName())

/** Returns the profile. */
async function preferencesOf({ token }: SignedIn) {
  return answered(await panel.send('GET', '/api/auth/me', { token }), 200)
}

test.each([
  ['lang', 'fr'],
  ['lang', 'en'],
  ['theme', 'dark'],
  ['theme', 'light'],
  ['sidebar_position', 'left'],
  ['sidebar_position', 'right'],
])('preferences: %s may be %s, and the other fields stay as they are', async (field, value) => {
  const caller = await signIn()
  const start = value === DEFAULTS.lang || value === 'dark' || value === 'left' ? OTHERS : DEFAULTS
  await patch(caller, start)

  expect((await patch(caller, { [field]: value })).status).toBe(200)

  expect(await preferencesOf(caller)).toMatchObject({ ...start, [field]: value })
})

test('preferences, success: 200 with {message}, and all three fields are applied', async () => {
  const caller = await signIn()

  const body = await answered(await patch(caller, OTHERS), 200)

  expect(body).toEqual({ message: expect.stringMatching(/^[A-ZÀ-Ý].*\.$/) })
  expect(await preferencesOf(caller)).toMatchObject(OTHERS)
})

test('preferences: all fields are optional, so {} is 200 and changes nothing', async () => {
  const caller = await signIn()
  await patch(caller, OTHERS)

  expect((await patch(caller, {})).status).toBe(200)

  expect(await preferencesOf(caller)).toMatchObject(OTHERS)
})

test('preferences: the profile has no other settable field', async () => {
  const caller = await signIn()
  const before = await panel.userOf(caller.username)

  const sent = { is_admin: true, username: 'root', id: 1, last_login_at: '1970-01-01T00:00:00.000Z' }
  expect((await patch(caller, sent)).status).toBe(200)

  expect(await panel.userOf(caller.username)).toEqual(before)
})

test('preferences belong to the caller: those of other users stay', async () => {
  const caller = await signIn()
  const other = await signIn()

  await patch(caller, OTHERS)

  expect(await preferencesOf(other)).toMatchObject(DEFAULTS)
})

test('preferences survive the session', async () => {
  const caller = await signIn()
  await patch(caller, OTHERS)
  await panel.send('POST', '/api/auth/logout', { token: caller.token })

  expect(await preferencesOf(await panel.login(caller.username))).toMatchObject(OTHERS)
})

const INVALID: unknown[] = ['de', 'FR', ' fr', '', null, 1, true, [], {}, ['fr']]

test.each(INVALID)('preferences: lang %j is not valid, gives 400 and stops before theme', async (lang) => {
  const caller = await signIn()

  const { details } = await refused(await patch(caller, { ...OTHERS, lang }), 400, 'preference_invalid')

  expect(details?.map(({ field }) => field)).toEqual(['lang'])
  expect(await preferencesOf(caller)).toMatchObject(DEFAULTS)
})

test.each(['blue', 'Dark', '', null, 1, false, [], {}])(
  'preferences: theme %j is not valid, gives 400, lang is already applied and sidebar_position is not',
  async (theme) => {
    const caller = await signIn()

    const { details } = await refused(await patch(caller, { ...OTHERS, theme }), 400, 'preference_invalid')

    expect(details?.map(({ field }) => field)).toEqual(['theme'])
    expect(await preferencesOf(caller)).toMatchObject({ ...DEFAULTS, lang: 'en' })
  },
)

test.each(['top', 'LEFT', '', null, 0, true, [], {}])(
  'preferences: sidebar_position %j is not valid, gives 400, lang and theme are already applied',
  async (sidebar_position) => {
    const caller = await signIn()

    const { details } = await refused(await patch(caller, { ...OTHERS, sidebar_position }), 400, 'preference_invalid')

    expect(details?.map(({ field }) => field)).toEqual(['sidebar_position'])
    expect(await preferencesOf(caller)).toMatchObject({ ...OTHERS, sidebar_position: 'left' })
  },
)

test('preferences: the order is lang, theme, sidebar_position, not the order in the body', async () => {
  const caller = await signIn()

  const body = '{"sidebar_position":"right","theme":"blue","lang":"en"}'
  const { details } = await refused(await patch(caller, body), 400, 'preference_invalid')

  expect(details?.map(({ field }) => field)).toEqual(['theme'])
  expect(await preferencesOf(caller)).toMatchObject({ ...DEFAULTS, lang: 'en' })
})

test('preferences: of several invalid fields only the first is named', async () => {
  const caller = await signIn()

  const body = { lang: 'x', theme: 'x', sidebar_position: 'x' }
  const { error, details } = await refused(await patch(caller, body), 400, 'preference_invalid')

  expect(error).toContain('lang')
  expect(details).toHaveLength(1)
  expect(await preferencesOf(caller)).toMatchObject(DEFAULTS)
})

test.each([undefined, '', '{', '{"lang":"en"', 'lang=en'])(
  'preferences: an unreadable body (%j) gives 400 and changes nothing',
  async (body) => {
    const caller = await signIn()

    await refused(await patch(caller, body), 400, 'invalid_json')

    expect(await preferencesOf(caller)).toMatchObject(DEFAULTS)
  },
)

test.each(['null', '[]', '"en"', '1', 'true', '[{"lang":"en"}]'])(
  'preferences, contract: a body that is no JSON object (%s) gives 400 and changes nothing',
  async (body) => {
    const caller = await signIn()

    expect((await patch(caller, body)).status).toBe(400)

    expect(await preferencesOf(caller)).toMatchObject(DEFAULTS)
  },
)

test('preferences: without a token the answer is 401, before the body is read', async () => {
  await refused(await panel.send('PATCH', '/api/auth/preferences', { body: OTHERS }), 401, 'unauthenticated')
  await refused(await panel.send('PATCH', '/api/auth/preferences', { body: '{' }), 401, 'unauthenticated')
})

test('preferences: a database that does not answer gives 500', async () => {
  const caller = await signIn()

  await panel.without('users', async () => refused(await patch(caller, OTHERS), 500, 'storage_failed'))

  expect(await preferencesOf(caller)).toMatchObject(DEFAULTS)
})

test('preferences are not an audited event', async () => {
  const { token } = await signIn()
  const from = newAddress()

  await panel.send('PATCH', '/api/auth/preferences', { token, from, body: OTHERS })
  await panel.send('PATCH', '/api/auth/preferences', { token, from, body: { lang: 'x' } })

  expect(await panel.auditOf(from)).toEqual([])
})

import { expect, test } from 'vitest'
import { readSettings } from '../../../db/settings.ts'
import publicGet from '../../../functions/settings/public.get.ts'
import publicPut from '../../../functions/settings/public.put.ts'
import { testApp } from '../../app.ts'
import { answered, audited, refused } from '../answers.ts'

const PATH = '/api/settings/public'
const LIST = '[ {"label": "Wiki", "href": "/wiki", "icon": "book"} ]'

const start = () => testApp([publicGet, publicPut])
type App = Awaited<ReturnType<typeof start>>

const put = (app: App, body: unknown) => app.request('PUT', PATH, { as: 'admin', body })
const get = async (app: App) => answered(await app.request('GET', PATH, { as: 'user' }), 200)

test('only the shortcuts are public: an empty list at first', async () => {
  expect(await get(await start())).toEqual({ dashboard_shortcuts: '[]' })
})

test('an administrator sets the shortcuts for everybody; the text is returned unchanged, and the audit log shows user and change', async () => {
  const app = await start()

  expect(await answered(await put(app, { dashboard_shortcuts: LIST }), 200)).toEqual({
    message: 'Raccourcis enregistrés.',
  })

  expect(await answered(await app.request('GET', PATH, { as: 'user' }), 200)).toEqual({ dashboard_shortcuts: LIST })
  const entries = await audited(app.db)
  expect(entries).toMatchObject([
    {
      action: 'settings_changed',
      username: 'alice',
      details: { keys: 'dashboard_shortcuts', dashboard_shortcuts_before: '', dashboard_shortcuts_after: LIST },
    },
  ])
})

test('storing the same shortcuts again is no change, and leaves no audit entry', async () => {
  const app = await start()
  await answered(await put(app, { dashboard_shortcuts: LIST }), 200)

  await answered(await put(app, { dashboard_shortcuts: LIST }), 200)

  expect(await audited(app.db)).toHaveLength(1)
})

test.each([
  ['no shortcuts', {}],
  ['null', { dashboard_shortcuts: null }],
  ['a list that is no text', { dashboard_shortcuts: [] }],
  ['no JSON', { dashboard_shortcuts: '[' }],
  ['no list', { dashboard_shortcuts: '{}' }],
  ['a script', { dashboard_shortcuts: '[{"label":"a","href":"javascript:alert(1)"}]' }],
  ['another host', { dashboard_shortcuts: '[{"label":"a","href":"//evil.example"}]' }],
  ['another setting', { dashboard_shortcuts: '[]', ssh_host: 'evil.example' }],
  ['another setting alone', { ssh_host: 'evil.example' }],
  ['a list', []],
])('%s is refused, and nothing is written', async (_, body) => {
  const app = await start()
  const before = await readSettings(app.db)

  await refused(await put(app, body), 400, 'invalid_request')

  expect(await readSettings(app.db)).toEqual(before)
  expect(await audited(app.db)).toEqual([])
})

test('an ordinary user cannot change the shortcuts', async () => {
  const app = await start()

  const body = { dashboard_shortcuts: LIST }
  await refused(await app.request('PUT', PATH, { as: 'user', body }), 403, 'forbidden')

  expect(await get(app)).toEqual({ dashboard_shortcuts: '[]' })
  expect(await audited(app.db)).toEqual([])
})

test('without a token the answer is 401, and nothing changes', async () => {
  const app = await start()

  await refused(await app.request('GET', PATH), 401, 'unauthenticated')
  await refused(await app.request('PUT', PATH, { body: { dashboard_shortcuts: LIST } }), 401, 'unauthenticated')

  expect(await get(app)).toEqual({ dashboard_shortcuts: '[]' })
})

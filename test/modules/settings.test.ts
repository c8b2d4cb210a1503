import { expect, test } from 'vitest'
import * as z from 'zod'
import { removeModule } from '../../db/modules.ts'
import { saveModuleValue } from '../../db/module-store/values.ts'
import { answered, audited, refused } from '../functions/answers.ts'
import { appWithModules } from './kit-app.ts'

const SETTINGS = '/api/modules/mail/settings'

const ok = async (response: Promise<Response>) => answered(await response, 200)

const MODULE = `
export default ({ z, defineFunction, defineSettings, definePage }) => [
  defineSettings({
    fields: z.object({
      server: z.string().trim().min(3).default('mail.example').meta({ title: 'Server' }),
      port: z.int().min(1).max(65535).default(25),
      sender: z.string().optional(),
      token: z.string().min(8),
    }),
    secrets: ['token'],
  }),
  defineFunction({
    method: 'GET',
    path: '/api/modules/mail/seen',
    auth: 'admin',
    rateLimit: false,
    response: z.object({ settings: z.unknown() }),
    handler: async (_, { moduleSettings }) => ({ settings: await moduleSettings() }),
  }),
]
`

test('administrators read and change the settings of a module, and its handlers see them', async () => {
  const app = await appWithModules({ mail: MODULE })
  const seen = () => ok(app.request('GET', '/api/modules/mail/seen', { as: 'admin' }))

  expect(await ok(app.request('GET', SETTINGS, { as: 'admin' }))).toEqual({
    server: 'mail.example',
    port: 25,
    token_set: false,
  })
  expect(await seen()).toEqual({ settings: { server: 'mail.example', port: 25 } })

  const body = { port: 2525, sender: 'panel', token: 'swordfish' }
  expect(await ok(app.request('PATCH', SETTINGS, { as: 'admin', body }))).toEqual({
    message: 'Réglages enregistrés.',
  })
  expect(await ok(app.request('GET', SETTINGS, { as: 'admin' }))).toEqual({
    server: 'mail.example',
    port: 2525,
    sender: 'panel',
    token_set: true,
  })
  expect(await seen()).toEqual({
    settings: { server: 'mail.example', port: 2525, sender: 'panel', token: 'swordfish' },
  })
  expect(await audited(app.db)).toMatchObject([
    {
      action: 'module_settings_changed',
      username: 'alice',
      target: 'mail',
      details: { fields: 'port, sender, token' },
    },
  ])
  const rows = JSON.stringify(await app.db.query(z.looseObject({}), 'SELECT * FROM module_values'))
  expect(rows).toContain('2525')
  expect(rows).not.toContain('swordfish')
})

test('a change that changes nothing is not audited, and an empty secret keeps the stored one', async () => {
  const app = await appWithModules({ mail: MODULE })
  await app.request('PATCH', SETTINGS, { as: 'admin', body: { token: 'swordfish' } })

  for (const body of [{}, { token: '' }, { port: 25 }, { token: 'swordfish', server: ' mail.example ' }])
    expect(await ok(app.request('PATCH', SETTINGS, { as: 'admin', body }))).toEqual({
      message: 'Aucun réglage n’a changé.',
    })
  expect(await audited(app.db)).toHaveLength(1)
  expect(await ok(app.request('GET', SETTINGS, { as: 'admin' }))).toMatchObject({ token_set: true })
})

test.each([
  [{ port: 0 }, 'port'],
  [{ port: 'x' }, 'port'],
  [{ server: 'a' }, 'server'],
  [{ token: 'short' }, 'token'],
  [{ other: 1 }, ''],
])('%j is refused and changes nothing', async (body, field) => {
  const app = await appWithModules({ mail: MODULE })

  const failure = await refused(
    await app.request('PATCH', SETTINGS, { as: 'admin', body: { sender: 'x', ...body } }),
    400,
    'invalid_request',
  )

  if (field) expect(JSON.stringify(failure)).toContain(`"field":"${field}"`)
  expect(await app.db.query(z.looseObject({}), 'SELECT * FROM module_values')).toEqual([])
})

test('null returns a setting to its default and unsets a secret', async () => {
  const app = await appWithModules({ mail: MODULE })
  await ok(app.request('PATCH', SETTINGS, { as: 'admin', body: { port: 2525, sender: 'x', token: 'swordfish' } }))

  await ok(app.request('PATCH', SETTINGS, { as: 'admin', body: { port: null, sender: null, token: null } }))
  expect(await ok(app.request('GET', SETTINGS, { as: 'admin' }))).toEqual({
    server: 'mail.example',
    port: 25,
    token_set: false,
  })
  expect(await app.db.query(z.looseObject({}), 'SELECT * FROM module_values')).toEqual([])
  expect((await audited(app.db)).at(-1)).toMatchObject({ details: { fields: 'port, sender, token' } })
  const again = await app.request('PATCH', SETTINGS, { as: 'admin', body: { port: null, token: null } })
  expect(await answered(again, 200)).toEqual({ message: 'Aucun réglage n’a changé.' })
})

test('an endpoint of the module with a parameter does not answer in the place of its settings', async () => {
  const key = `defineFunction({
    method: 'GET', path: '/api/modules/mail/:key', auth: 'user', rateLimit: false,
    request: { params: z.object({ key: z.string() }) },
    response: z.object({ key: z.string() }), handler: ({ params }) => params,
  }),`
  const app = await appWithModules({ mail: MODULE.replace('=> [', `=> [${key}`) })

  expect(await ok(app.request('GET', SETTINGS, { as: 'admin' }))).toMatchObject({ port: 25 })
  await refused(await app.request('GET', SETTINGS, { as: 'user' }), 403, 'forbidden')
  await ok(app.request('PATCH', SETTINGS, { as: 'admin', body: { port: 2525 } }))
  expect(await ok(app.request('GET', '/api/modules/mail/other', { as: 'user' }))).toEqual({ key: 'other' })
})

test('null is a value of a setting that takes it', async () => {
  const app = await appWithModules({
    maybe:
      'export default ({ z, defineSettings }) => [defineSettings({ fields: z.object({ at: z.int().nullable().default(3) }) })]',
  })
  const path = '/api/modules/maybe/settings'

  await ok(app.request('PATCH', path, { as: 'admin', body: { at: null } }))
  expect(await ok(app.request('GET', path, { as: 'admin' }))).toEqual({ at: null })
})

test('only administrators read and change settings', async () => {
  const app = await appWithModules({ mail: MODULE })

  await refused(await app.request('GET', SETTINGS), 401, 'unauthenticated')
  await refused(await app.request('GET', SETTINGS, { as: 'user' }), 403, 'forbidden')
  await refused(await app.request('PATCH', SETTINGS, { as: 'user', body: { port: 1 } }), 403, 'forbidden')
})

test('a stored value that a newer version refuses counts as not set', async () => {
  const app = await appWithModules({ mail: MODULE })
  await app.db.run(`INSERT INTO module_values VALUES ('mail', 'setting:port', '"many"', 0, ''),
    ('mail', 'setting:token', 'v1.AAAA', 1, '')`)

  expect(await ok(app.request('GET', SETTINGS, { as: 'admin' }))).toEqual({
    server: 'mail.example',
    port: 25,
    token_set: false,
  })
  expect(app.lines().join()).toContain('a stored setting is invalid')
})

test('a setting that was a secret once counts as not set, and can be set again', async () => {
  const app = await appWithModules({
    mail: MODULE.replace("secrets: ['token'],", '').replace('min(8)', 'min(8).optional()'),
  })
  const value = app.services.secrets.seal('module-setting:mail:token', 'swordfish')
  const sealed = { module: 'mail', kind: 'setting:', name: 'token', value, secret: true }
  await app.db.batch([saveModuleValue(sealed, 10, '2026-03-01T12:00:00.000Z')])

  expect(await ok(app.request('GET', SETTINGS, { as: 'admin' }))).not.toHaveProperty('token')
  await ok(app.request('PATCH', SETTINGS, { as: 'admin', body: { token: 'in the open' } }))
  expect(await ok(app.request('GET', SETTINGS, { as: 'admin' }))).toMatchObject({ token: 'in the open' })
})

test('settings of former versions leave room for those of the present one, and the newest of them stay', async () => {
  const app = await appWithModules({ mail: MODULE })
  await app.db.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
    INSERT INTO module_values SELECT 'mail', 'setting:old' || i, '1', 0, printf('%03d', i) FROM n`)

  await ok(app.request('PATCH', SETTINGS, { as: 'admin', body: { port: 2525, token: 'swordfish' } }))
  expect(await ok(app.request('GET', SETTINGS, { as: 'admin' }))).toMatchObject({ port: 2525, token_set: true })
  const Name = z.object({ name: z.string() })
  const names = (await app.db.query(Name, 'SELECT name FROM module_values')).map(({ name }) => name)
  expect(names).toHaveLength(102)
  expect(names).toEqual(expect.arrayContaining(['setting:old101', 'setting:old200']))
})

test('nothing is said to be saved, or audited, when the module is removed meanwhile', async () => {
  const slow = `
    export default ({ z, defineSettings }) => [
      defineSettings({
        fields: z.object({ port: z.number().default(1) }).refine(async () => { await globalThis.meanwhile(); return true }),
      }),
    ]`
  const app = await appWithModules({ slow })
  Object.assign(globalThis, { meanwhile: () => app.db.batch([removeModule('slow')]) })

  const path = '/api/modules/slow/settings'
  await refused(await app.request('PATCH', path, { as: 'admin', body: { port: 2 } }), 404, 'not_found')
  expect(await audited(app.db)).toEqual([])
})

test('a refinement of all settings sees those that a change leaves as they are', async () => {
  const pair = `
    export default ({ z, defineSettings }) => [
      defineSettings({
        fields: z.object({ low: z.number().default(1), high: z.number().default(9) })
          .refine(({ low, high }) => low < high, { message: 'low must be below high', path: ['low'] }),
      }),
    ]`
  const app = await appWithModules({ pair })

  const path = '/api/modules/pair/settings'
  const failure = await refused(
    await app.request('PATCH', path, { as: 'admin', body: { low: 9 } }),
    400,
    'invalid_request',
  )
  expect(failure).toMatchObject({ details: [{ field: 'low', message: 'low must be below high' }] })
  await ok(app.request('PATCH', path, { as: 'admin', body: { low: 9, high: 10 } }))
})

test('the page of a module shows its settings as a form without further work', async () => {
  const app = await appWithModules({ mail: MODULE })

  expect(app.services.modules.pages.get('mail')?.sections).toMatchObject([
    {
      kind: 'form',
      title: { fr: 'Réglages', en: 'Settings' },
      call: `PATCH ${SETTINGS}`,
      from: `GET ${SETTINGS}`,
      fields: [
        { name: 'server', label: { en: 'Server' }, as: 'text', required: false },
        { name: 'port', as: 'number', whole: true, min: 1, max: 65535 },
        { name: 'sender', as: 'text' },
        { name: 'token', as: 'password' },
      ],
    },
  ])
})

test.each([
  ['fields: 1', '« fields » est invalide (attendu : un schéma z.object)'],
  ['fields: z.object({})', 'aucun réglage'],
  ['fields: z.object({ a: z.string() })', '« fields.a » doit avoir une valeur par défaut'],
  ['fields: z.object({ a: z.string() }), secrets: ["b"]', '« secrets » nomme b, absent de fields'],
  ['fields: z.object({ a: z.number() }), secrets: ["a"]', '« fields.a » est secret : z.string() est attendu'],
  ['fields: z.object({ a: z.string(), a_set: z.string().optional() }), secrets: ["a"]', '« fields.a_set » est réservé'],
  ['fields: z.object({ "a-b": z.string().optional() })', '« fields.a-b » n’est pas un nom possible'],
  ['fields: z.object({ a: z.string().optional() }), more: 1', 'a des champs inconnus : more'],
])('settings with %s are refused', async (declared, fault) => {
  const bad = `export default ({ z, defineSettings }) => [defineSettings({ ${declared} })]`
  const app = await appWithModules({ bad })

  expect(app.services.modules.problem('bad')?.detail).toMatch(/^déclaration 1 \(réglages\) : /)
  expect(app.services.modules.problem('bad')?.detail).toContain(fault)
})

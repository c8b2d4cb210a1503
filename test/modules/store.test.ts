import * as z from 'zod'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDatabase } from '../../db/libsql/client.ts'
import type { Database } from '../../db/libsql/database.ts'
import { removeModule, saveModule } from '../../db/modules.ts'
import { moduleStore } from '../../modules/kit/store.ts'
import { createSecrets } from '../../platform/secrets.ts'
import { makeSchema } from '../migrated.ts'

const anything = z.looseObject({})
const NOW = new Date('2026-03-01T12:00:00.000Z')
const secrets = createSecrets(Buffer.alloc(32, 7))

let db: Database

beforeEach(async () => {
  db = await openDatabase(':memory:')
  await makeSchema(db, NOW)
  await db.batch(['one', 'two'].map((id) => saveModule(record(id), NOW.toISOString())))
})

afterEach(() => db.close())

function record(id: string) {
  return {
    id,
    name: id,
    description: '',
    version: '1',
    backend: 'backend.mjs',
    nav_label: null,
    nav_icon: null,
    nav_href: null,
    nav_order: 0,
    repository: null,
    commit: null,
    tag: null,
    files: '[]',
  }
}

const storeOf = (id: string) => moduleStore({ db, secrets, clock: () => NOW }, id)

test('values are kept as JSON and belong to their module alone', async () => {
  const [one, two] = [storeOf('one'), storeOf('two')]
  await one.set('last', { count: 1, names: ['é'] })
  await one.set('other', null)
  await two.set('last', 'two')

  expect(await one.get('last')).toEqual({ count: 1, names: ['é'] })
  expect(await one.list()).toEqual({ last: { count: 1, names: ['é'] }, other: null })
  expect(await two.list()).toEqual({ last: 'two' })

  await one.delete('last')
  expect(await one.get('last')).toBeUndefined()
  expect(await two.get('last')).toBe('two')
})

test('a secret is sealed in the database, is no value, and can be opened under its own name only', async () => {
  const one = storeOf('one')
  await one.set('token', 'a value')
  await one.secrets.set('token', 'swordfish')
  const rows = await db.query(anything, `SELECT * FROM module_values WHERE module = 'one'`)

  expect(JSON.stringify(rows)).not.toContain('swordfish')
  expect(await one.secrets.get('token')).toBe('swordfish')
  expect(await one.secrets.list()).toEqual(['token'])
  expect(await one.list()).toEqual({ token: 'a value' })
  expect(await storeOf('two').secrets.get('token')).toBeUndefined()

  await db.run(`INSERT INTO module_values SELECT 'two', name, value, is_secret, updated_at FROM module_values
                WHERE module = 'one' AND is_secret = 1`)
  await expect(storeOf('two').secrets.get('token')).rejects.toThrow('cannot be decrypted')
})

test('records are listed by id in pages, from either end', async () => {
  const runs = storeOf('one').records('runs')
  for (const id of ['a', 'b', 'c', 'd']) await runs.put(id, { id })
  await storeOf('one').records('others').put('x', 1)
  await storeOf('two').records('runs').put('y', 1)
  const ids = async (page?: Parameters<typeof runs.list>[0]) => (await runs.list(page)).map(({ id }) => id)

  expect(await ids()).toEqual(['a', 'b', 'c', 'd'])
  expect(await ids({ limit: 2 })).toEqual(['a', 'b'])
  expect(await ids({ after: 'b', limit: 2 })).toEqual(['c', 'd'])
  expect(await ids({ newest: true, limit: 3 })).toEqual(['d', 'c', 'b'])
  expect(await ids({ newest: true, after: 'b' })).toEqual(['a'])
  await runs.put('a', 'again')
  expect((await runs.list({ limit: 1 }))[0]).toEqual({ id: 'a', value: 'again', updated_at: NOW.toISOString() })
  expect(await runs.get('a')).toBe('again')
  expect(await runs.delete('a')).toBe(true)
  expect(await runs.delete('a')).toBe(false)
  expect(await runs.get('a')).toBeUndefined()
})

test('a module stores a bounded number of values and records, and may still replace them', async () => {
  const one = storeOf('one')
  await db.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO module_values SELECT 'one', 'value:v' || i, '1', 0, '' FROM n`)
  await expect(one.set('more', 1)).rejects.toMatchObject({ code: 'module_store_full' })
  await one.set('v1000', 2)
  await one.secrets.set('still', 'free')
  expect(await one.get('v1000')).toBe(2)

  await db.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO module_records SELECT 'one', 'c' || (i % 7), i, '1', '' FROM n`)
  await expect(one.records('new').put('a', 1)).rejects.toMatchObject({ code: 'module_store_full' })
  await one.records('c1').put('1', 2)
  expect(await one.records('c1').get('1')).toBe(2)
  await storeOf('two').records('new').put('a', 1)
})

test.each([
  ['too long a value', (store: Store) => store.set('a', 'x'.repeat(64 * 1024))],
  ['a value that is no JSON', (store: Store) => store.set('a', () => 1)],
  ['an empty name', (store: Store) => store.set('', 1)],
  ['a name with a colon', (store: Store) => store.get('turn:a')],
  ['too long a name', (store: Store) => store.set('a'.repeat(65), 1)],
  ['too long a secret', (store: Store) => store.secrets.set('a', 'x'.repeat(64 * 1024 + 1))],
  ['an empty id', (store: Store) => store.records('a').put('', 1)],
  ['an id with a line end', (store: Store) => store.records('a').put('a\n', 1)],
  ['too long an id', (store: Store) => store.records('a').put('é'.repeat(128), 1)],
  ['too long a page', (store: Store) => store.records('a').list({ limit: 1001 })],
  ['an empty page', (store: Store) => store.records('a').list({ limit: 0 })],
])('%s is refused', async (_, use) => {
  await expect(use(storeOf('one'))).rejects.toThrow(/./)
  expect(await db.query(anything, 'SELECT * FROM module_values UNION ALL SELECT * FROM module_records')).toEqual([])
})

test('nothing is left of a module that was removed, and it can store nothing more', async () => {
  const one = storeOf('one')
  await one.set('a', 1)
  await one.records('runs').put('a', 1)
  await db.batch([removeModule('one')])

  expect(await one.list()).toEqual({})
  expect(await one.records('runs').list()).toEqual([])
  await expect(one.set('a', 1)).rejects.toMatchObject({ code: 'module_store_full' })
})

type Store = ReturnType<typeof storeOf>

import { expect, test } from 'vitest'
import * as z from 'zod'
import { readLayout, saveLayout } from '../../db/dashboard-layouts.ts'
import { saveUser } from '../../db/users.ts'
import { NOW, openMigrated } from './database.ts'

const LATER = '2026-03-02T12:00:00.000Z'

const all = (db: Awaited<ReturnType<typeof openMigrated>>) =>
  db.query(z.unknown(), 'SELECT user_id, layout, updated_at FROM dashboard_layouts ORDER BY user_id')

test('the newest text of each user is stored unchanged', async () => {
  const db = await openMigrated()
  const [bob, alice] = [await saveUser(db, 'bob', false, NOW), await saveUser(db, 'alice', true, NOW)]

  expect(await saveLayout(db, bob.id, '{"a":1}', NOW)).toBe(true)
  expect(await saveLayout(db, alice.id, '{ "b" : "é" }', NOW)).toBe(true)
  expect(await saveLayout(db, bob.id, '{"a":2}', LATER)).toBe(true)

  expect(await readLayout(db, bob.id)).toBe('{"a":2}')
  expect(await readLayout(db, alice.id)).toBe('{ "b" : "é" }')
  expect(await all(db)).toEqual([
    { user_id: bob.id, layout: '{"a":2}', updated_at: LATER },
    { user_id: alice.id, layout: '{ "b" : "é" }', updated_at: NOW },
  ])
})

test('a user who has stored no layout has none', async () => {
  const db = await openMigrated()
  const { id } = await saveUser(db, 'bob', false, NOW)

  expect(await readLayout(db, id)).toBeUndefined()
})

test('nothing is stored for a missing user', async () => {
  const db = await openMigrated()

  expect(await saveLayout(db, 7, '{}', NOW)).toBe(false)

  expect(await all(db)).toEqual([])
})

test('a layout is removed with its user', async () => {
  const db = await openMigrated()
  const { id } = await saveUser(db, 'bob', false, NOW)
  await saveLayout(db, id, '{}', NOW)

  await db.run('DELETE FROM users')

  expect(await readLayout(db, id)).toBeUndefined()
})

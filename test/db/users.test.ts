import { expect, test } from 'vitest'
import { findUser, saveUser } from '../../db/users.ts'
import { NOW, openMigrated } from './database.ts'

test('a new user has the default preferences and has never signed in', async () => {
  const db = await openMigrated()

  const { id, ...rest } = await saveUser(db, 'bob', false, NOW)

  const preferences = { lang: 'fr', theme: 'dark', sidebar_position: 'left' }
  expect(rest).toEqual({ username: 'bob', is_admin: false, last_login_at: null, ...preferences })
  expect(await findUser(db, id)).toEqual({ id, ...rest })
  expect(await findUser(db, id + 1)).toBeUndefined()
})

test('saving again overwrites the administrator flag alone, of that user alone', async () => {
  const db = await openMigrated()
  const bob = await saveUser(db, 'bob', true, NOW)
  await saveUser(db, 'alice', true, NOW)
  await db.run(`UPDATE users SET theme = 'light', lang = 'en' WHERE username = 'bob'`)

  const again = await saveUser(db, 'bob', false, NOW)

  expect(again).toEqual({ ...bob, is_admin: false, theme: 'light', lang: 'en' })
  expect(await saveUser(db, 'alice', true, NOW)).toMatchObject({ is_admin: true, theme: 'dark' })
})

test('usernames differ by case', async () => {
  const db = await openMigrated()

  const bob = await saveUser(db, 'bob', false, NOW)
  expect((await saveUser(db, 'Bob', false, NOW)).id).not.toBe(bob.id)
})

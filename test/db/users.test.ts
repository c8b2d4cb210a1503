import { expect, test } from 'vitest'
import { addSession } from '../../db/sessions.ts'
import { listAccounts } from '../../db/access/users.ts'
import { findPreferences, findUser, savePreference, saveUser } from '../../db/users.ts'
import { NOW, openMigrated } from './database.ts'

test('a new user has the default preferences and has never signed in', async () => {
  const db = await openMigrated()

  const { id, ...rest } = await saveUser(db, 'bob', false, NOW)

  const preferences = { lang: 'fr', theme: 'dark', sidebar_position: 'left' }
  expect(rest).toEqual({ username: 'bob', is_admin: false, last_login_at: null, ...preferences })
  expect(await findUser(db, id)).toEqual({ id, ...rest })
  expect(await findUser(db, id + 1)).toBeUndefined()
})

test('a second save overwrites only the administrator flag, and only of that user', async () => {
  const db = await openMigrated()
  const bob = await saveUser(db, 'bob', true, NOW)
  await saveUser(db, 'alice', true, NOW)
  await db.run(`UPDATE users SET theme = 'light', lang = 'en' WHERE username = 'bob'`)

  const again = await saveUser(db, 'bob', false, NOW)

  expect(again).toEqual({ ...bob, is_admin: false, theme: 'light', lang: 'en' })
  expect(await saveUser(db, 'alice', true, NOW)).toMatchObject({ is_admin: true, theme: 'dark' })
})

test('usernames are case-sensitive', async () => {
  const db = await openMigrated()

  const bob = await saveUser(db, 'bob', false, NOW)
  expect((await saveUser(db, 'Bob', false, NOW)).id).not.toBe(bob.id)
})

test.each([
  ['lang', 'en'],
  ['theme', 'light'],
  ['sidebar_position', 'right'],
] as const)('the preference %s is set alone, for one user alone', async (name, value) => {
  const db = await openMigrated()
  const [bob, alice] = [await saveUser(db, 'bob', false, NOW), await saveUser(db, 'alice', true, NOW)]

  expect(await savePreference(db, bob.id, name, value)).toBe(true)

  expect(await findUser(db, bob.id)).toEqual({ ...bob, [name]: value })
  expect(await findUser(db, alice.id)).toEqual(alice)
  expect(await savePreference(db, bob.id, name, value)).toBe(true)
})

test('nothing is set for a missing user', async () => {
  const db = await openMigrated()
  const { id } = await saveUser(db, 'bob', false, NOW)

  expect(await savePreference(db, id + 1, 'theme', 'light')).toBe(false)
  expect(await findPreferences(db, id + 1)).toBeUndefined()
  expect(await findPreferences(db, id)).toMatchObject({ theme: 'dark' })
})

test('a preference is stored as a value, whatever it contains', async () => {
  const db = await openMigrated()
  const { id } = await saveUser(db, 'bob', false, NOW)

  await savePreference(db, id, 'theme', "x', is_admin = 1 --")

  expect(await findUser(db, id)).toMatchObject({ theme: "x', is_admin = 1 --", is_admin: false })
})

test('the last login is returned in its stored format', async () => {
  const db = await openMigrated()
  const { id } = await saveUser(db, 'bob', false, NOW)

  for (const at of ['2026-02-28 11:59:59', NOW]) {
    await db.run('UPDATE users SET last_login_at = ?', [at])
    expect(await findPreferences(db, id)).toMatchObject({ last_login_at: at })
  }
})

test('all users are listed by name, each with the number of its unexpired sessions', async () => {
  const db = await openMigrated()
  const [zoe, bob] = [await saveUser(db, 'zoe', true, NOW), await saveUser(db, 'bob', false, NOW)]
  const LATER = '2026-03-01T12:00:00.001Z'
  const add = (user_id: number, token_hash: string, expires_at: string) =>
    addSession(db, { user_id, token_hash, expires_at, user_agent: '', ip: '', proven_by: 'password' }, NOW)
  await add(zoe.id, 'a', LATER)
  await add(zoe.id, 'b', NOW)
  // In the format of SQLite, which as text would sort before the moment.
  await add(zoe.id, 'c', '2026-03-01 12:00:01')

  expect(await listAccounts(db, NOW)).toMatchObject([
    { username: 'bob', is_admin: false, last_login_at: null, sessions: 0 },
    { username: 'zoe', is_admin: true, last_login_at: NOW, sessions: 2 },
  ])
  expect(await findUser(db, bob.id)).toEqual(bob)
  expect(await listAccounts(await openMigrated(), NOW)).toEqual([])
})

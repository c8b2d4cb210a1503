import { expect, test } from 'vitest'
import * as z from 'zod'
import { StorageError } from '../../db/client.ts'
import { addSession } from '../../db/sessions.ts'
import { findUser, saveUser } from '../../db/users.ts'
import { NOW, openMigrated } from './database.ts'

const SESSION = { expires_at: '2026-03-08T12:00:00.000Z', user_agent: 'curl/8', ip: '10.0.0.1' }

test('stores a session as used now, with the user’s last login', async () => {
  const db = await openMigrated()
  const bob = await saveUser(db, 'bob', false, NOW)
  const alice = await saveUser(db, 'alice', true, NOW)

  const id = await addSession(db, { ...SESSION, user_id: bob.id, token_hash: 'aa' }, NOW)

  expect(await db.query(z.unknown(), 'SELECT * FROM sessions')).toEqual([
    { ...SESSION, id, user_id: bob.id, token_hash: 'aa', created_at: NOW, last_used_at: NOW },
  ])
  expect(await findUser(db, bob.id)).toMatchObject({ last_login_at: NOW })
  expect(await findUser(db, alice.id)).toMatchObject({ last_login_at: null })
})

test('each session gets an id of its own', async () => {
  const db = await openMigrated()
  const { id: user_id } = await saveUser(db, 'bob', false, NOW)

  const first = await addSession(db, { ...SESSION, user_id, token_hash: 'aa' }, NOW)
  const second = await addSession(db, { ...SESSION, user_id, token_hash: 'bb' }, NOW)

  expect(second).toBeGreaterThan(first)
})

test('a token that is there already is refused, and nothing of the second login stays', async () => {
  const db = await openMigrated()
  const { id: user_id } = await saveUser(db, 'bob', false, NOW)
  await addSession(db, { ...SESSION, user_id, token_hash: 'aa' }, NOW)

  const later = '2026-03-02T12:00:00.000Z'
  await expect(addSession(db, { ...SESSION, user_id, token_hash: 'aa' }, later)).rejects.toThrow(StorageError)

  expect(await findUser(db, user_id)).toMatchObject({ last_login_at: NOW })
  expect(await db.query(z.unknown(), 'SELECT id FROM sessions')).toHaveLength(1)
})

test('there is no session without its user', async () => {
  const db = await openMigrated()

  await expect(addSession(db, { ...SESSION, user_id: 99, token_hash: 'aa' }, NOW)).rejects.toThrow(/FOREIGN KEY/)
})

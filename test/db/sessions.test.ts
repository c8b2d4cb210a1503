import { expect, test } from 'vitest'
import * as z from 'zod'
import { StorageError } from '../../db/libsql/database.ts'
import {
  addSession,
  endedSince,
  endSessions,
  findSession,
  pruneEndedSessions,
  listSessions,
  removeExpiredSessions,
  touchSession,
} from '../../db/sessions.ts'
import { findUser, saveUser } from '../../db/users.ts'
import { NOW, openMigrated } from './database.ts'

const SESSION = {
  expires_at: '2026-03-08T12:00:00.000Z',
  user_agent: 'curl/8',
  ip: '10.0.0.1',
  proven_by: 'password',
} as const

test('a new session counts as used now, and sets the user’s last login', async () => {
  const db = await openMigrated()
  const bob = await saveUser(db, 'bob', false, NOW)
  const alice = await saveUser(db, 'alice', true, NOW)

  const id = await addSession(db, { ...SESSION, user_id: bob.id, token_hash: 'aa' }, NOW)

  expect(await db.query(z.unknown(), 'SELECT * FROM sessions')).toEqual([
    { ...SESSION, id, user_id: bob.id, token_hash: 'aa', created_at: NOW, last_used_at: NOW, proven_at: NOW },
  ])
  expect(await findUser(db, bob.id)).toMatchObject({ last_login_at: NOW })
  expect(await findUser(db, alice.id)).toMatchObject({ last_login_at: null })
})

test('each session has an id of its own', async () => {
  const db = await openMigrated()
  const { id: user_id } = await saveUser(db, 'bob', false, NOW)

  const first = await addSession(db, { ...SESSION, user_id, token_hash: 'aa' }, NOW)
  const second = await addSession(db, { ...SESSION, user_id, token_hash: 'bb' }, NOW)

  expect(second).toBeGreaterThan(first)
})

test('a token that exists already is refused, and nothing of the second login is stored', async () => {
  const db = await openMigrated()
  const { id: user_id } = await saveUser(db, 'bob', false, NOW)
  await addSession(db, { ...SESSION, user_id, token_hash: 'aa' }, NOW)

  const later = '2026-03-02T12:00:00.000Z'
  await expect(addSession(db, { ...SESSION, user_id, token_hash: 'aa' }, later)).rejects.toThrow(StorageError)

  expect(await findUser(db, user_id)).toMatchObject({ last_login_at: NOW })
  expect(await db.query(z.unknown(), 'SELECT id FROM sessions')).toHaveLength(1)
})

test('a session without a user is refused', async () => {
  const db = await openMigrated()

  await expect(addSession(db, { ...SESSION, user_id: 99, token_hash: 'aa' }, NOW)).rejects.toThrow(/FOREIGN KEY/)
})

/** Stores sessions of bob and one of alice that expire in a week. Returns their ids. */
async function stored(count: number) {
  const db = await openMigrated()
  const [bob, alice] = [await saveUser(db, 'bob', false, NOW), await saveUser(db, 'alice', false, NOW)]
  const add = (user_id: number, token_hash: string) => addSession(db, { ...SESSION, user_id, token_hash }, NOW)
  const ids: number[] = []
  for (let n = 1; n <= count; n += 1) ids.push(await add(bob.id, `hash ${n}`))
  const hers = await add(alice.id, 'hash of alice')
  const left = async () =>
    (await db.query(z.object({ id: z.number() }), 'SELECT id FROM sessions ORDER BY id')).map(({ id }) => id)
  return { db, bob: bob.id, alice: alice.id, ids, hers, left }
}

const NOON: readonly (readonly [form: string, expires: string, alive: boolean])[] = [
  ['RFC 3339, a millisecond after', '2026-03-01T12:00:00.001Z', true],
  ['RFC 3339, at that moment', '2026-03-01T12:00:00.000Z', false],
  ['RFC 3339, the day before', '2026-02-28T23:00:00.000Z', false],
  ['the old form, a second after', '2026-03-01 12:00:01', true],
  ['the old form, at that moment', '2026-03-01 12:00:00', false],
  ['the old form, later that day', '2026-03-01 23:00:00', true],
  ['the old form, earlier that day', '2026-03-01 01:00:00', false],
]

test.each(NOON)('all queries agree on an expiry in %s (%s)', async (_, expires, alive) => {
  const { db, bob, ids, hers, left } = await stored(1)
  await db.run('UPDATE sessions SET expires_at = ? WHERE user_id = ?', [expires, bob])

  expect((await listSessions(db, bob, NOW)).length === 1).toBe(alive)
  expect(await findSession(db, bob, 'hash 1', NOW)).toEqual(alive ? { id: ids[0], proven_at: NOW } : undefined)
  expect(await removeExpiredSessions(db, NOW)).toBe(alive ? 0 : 1)
  expect(await left()).toEqual(alive ? [...ids, hers] : [hers])
})

test('a session is listed with all displayed fields and its hash', async () => {
  const { db, bob, ids } = await stored(1)

  expect(await listSessions(db, bob, NOW)).toEqual([
    { ...SESSION, id: ids[0], token_hash: 'hash 1', created_at: NOW, last_used_at: NOW, proven_at: NOW },
  ])
})

test('the last used session is listed first, in either format, and an unused one by its start', async () => {
  const { db, bob, ids } = await stored(5)
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = ids
  const set = (id: number, used: string | null, created: string) =>
    db.run('UPDATE sessions SET last_used_at = ?, created_at = ? WHERE id = ?', [used, created, id])
  await set(a, '2026-03-01 10:00:00', NOW)
  await set(b, '2026-03-01T10:00:00.001Z', '2026-01-01 00:00:00')
  await set(c, null, '2026-03-01 10:00:01')
  await set(d, null, '2026-02-28T23:59:59.999Z')
  await set(e, '2026-03-01T10:00:00.000Z', NOW)

  expect((await listSessions(db, bob, NOW)).map(({ id }) => id)).toEqual([c, b, e, a, d])
})

test('a session is found by its user and its hash together', async () => {
  const { db, bob, alice, ids, hers } = await stored(2)

  expect(await findSession(db, bob, 'hash 2', NOW)).toMatchObject({ id: ids[1] })
  expect(await findSession(db, alice, 'hash of alice', NOW)).toMatchObject({ id: hers })
  for (const hash of ['hash of alice', 'hash', 'HASH 2', '', '%'])
    expect(await findSession(db, bob, hash, NOW)).toBeUndefined()
})

test('a use is recorded for one session only', async () => {
  const { db, bob, ids } = await stored(2)
  const [first = 0, second] = ids

  await touchSession(db, first, '2026-03-01T12:00:01.000Z')

  expect(await listSessions(db, bob, NOW)).toMatchObject([
    { id: first, last_used_at: '2026-03-01T12:00:01.000Z', created_at: NOW },
    { id: second, last_used_at: NOW },
  ])
})

test('ending removes the chosen sessions, records their ends in order, and returns their number', async () => {
  const { db, bob, alice, ids, hers, left } = await stored(4)
  const [a = 0, b = 0, c = 0, d = 0] = ids

  expect(await endSessions(db, { userId: bob, id: b }, NOW)).toBe(1)
  expect(await left()).toEqual([a, c, d, hers])
  expect(await endSessions(db, { userId: bob, tokenHash: 'hash 1' }, NOW)).toBe(1)
  expect(await left()).toEqual([c, d, hers])
  expect(await endSessions(db, { userId: bob }, NOW)).toBe(2)
  expect(await left()).toEqual([hers])
  expect(await endSessions(db, 'all', NOW)).toBe(1)
  expect(await left()).toEqual([])

  const ended = await endedSince(db, 0)
  expect(ended.map(({ session_id }) => session_id)).toEqual([b, a, c, d, hers])
  expect(await endSessions(db, { userId: alice }, NOW)).toBe(0)
  expect(await endedSince(db, 0)).toEqual(ended)
})

test('a session is ended only if it matches all given fields', async () => {
  const { db, bob, alice, ids, hers, left } = await stored(2)
  const [a = 0, b = 0] = ids

  for (const choice of [
    { userId: alice, id: a },
    { userId: bob, id: hers },
    { userId: bob, tokenHash: 'hash of alice' },
    { userId: bob, tokenHash: '' },
    { userId: bob, id: a, tokenHash: 'hash 2' },
    { userId: bob, id: 0 },
    { userId: 0 },
    { userId: 99 },
  ])
    expect(await endSessions(db, choice, NOW)).toBe(0)

  expect(await left()).toEqual([a, b, hers])
  expect(await endedSince(db, 0)).toEqual([])
})

test('ends are read after a number, which grows and is never reused', async () => {
  const { db, bob, ids } = await stored(3)
  const [a = 0, b = 0, c = 0] = ids
  await endSessions(db, { userId: bob, id: a }, NOW)
  await endSessions(db, { userId: bob, id: b }, NOW)
  const [first, second] = await endedSince(db, 0)

  expect(await endedSince(db, first?.seq ?? 0)).toEqual([second])
  expect(await endedSince(db, second?.seq ?? 0)).toEqual([])
  await pruneEndedSessions(db, '2027-01-01T00:00:00.000Z')
  expect(await endedSince(db, 0)).toEqual([])
  await endSessions(db, { userId: bob, id: c }, NOW)
  expect(await endedSince(db, second?.seq ?? 0)).toEqual([{ seq: (second?.seq ?? 0) + 1, session_id: c }])
})

test('the id of an ended session is never reused', async () => {
  const { db, bob, hers } = await stored(1)
  await endSessions(db, 'all', NOW)

  expect(await addSession(db, { ...SESSION, user_id: bob, token_hash: 'new' }, NOW)).toBeGreaterThan(hers)
})

test.each([
  ['2026-02-28T12:00:00.000Z', true],
  ['2026-02-28 12:00:00', true],
  ['2026-02-28T11:59:59.999Z', false],
  ['2026-02-28 11:59:59', false],
])('pruning removes the ends before a moment, in either format: %s stays: %s', async (at, stays) => {
  const { db, bob } = await stored(1)
  await endSessions(db, { userId: bob }, NOW)
  await db.run('UPDATE ended_sessions SET ended_at = ?', [at])

  expect(await pruneEndedSessions(db, '2026-02-28T12:00:00.000Z')).toBe(stays ? 0 : 1)

  expect(await endedSince(db, 0)).toHaveLength(stays ? 1 : 0)
})

test('a session that expires or is removed with its user records no end', async () => {
  const { db, bob, hers, left } = await stored(2)
  await db.run(`UPDATE sessions SET expires_at = '2026-01-01 00:00:00' WHERE id = ?`, [hers])

  await removeExpiredSessions(db, NOW)
  await db.run('DELETE FROM users WHERE id = ?', [bob])

  expect(await left()).toEqual([])
  expect(await endedSince(db, 0)).toEqual([])
})

test('a session stays if its end cannot be recorded', async () => {
  const { db, bob, ids, hers, left } = await stored(1)
  await db.script('ALTER TABLE ended_sessions RENAME TO gone')

  await expect(endSessions(db, { userId: bob }, NOW)).rejects.toThrow(StorageError)

  expect(await left()).toEqual([...ids, hers])
})

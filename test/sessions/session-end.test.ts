import { beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { type Database, StorageError } from '../../db/libsql/database.ts'
import { addSession, pruneEndedSessions } from '../../db/sessions.ts'
import { saveUser } from '../../db/users.ts'
import { createLog } from '../../platform/log.ts'
import { createSecrets } from '../../platform/secrets.ts'
import { createSessions, type Sessions } from '../../sessions/sessions.ts'
import { NOW, openMigrated } from '../db/database.ts'
import { bearerOf } from '../bearer.ts'

const { log } = createLog({ level: 'silent', write: () => {} })

let db: Database
let now: number
let queries: number
let hashes = 0

beforeEach(async () => {
  const real = await openMigrated()
  now = Date.parse(NOW)
  queries = 0
  db = {
    ...real,
    query(row, sql, args) {
      queries += 1
      return real.query(row, sql, args)
    },
  }
})

const instance = ({ on = db } = {}) =>
  createSessions({
    db: on,
    secrets: createSecrets(Buffer.alloc(32, 1)),
    clock: () => new Date(now),
    log,
    jwtKey: undefined,
    refreshDays: 7,
  })

interface Client {
  userId: number
  sid: string
  hash: string
  token: string
}

/** Stores a session of the user and returns a token of it. */
async function signIn(sessions: Sessions, username = 'bob'): Promise<Client> {
  const { id: userId } = await saveUser(db, username, false, NOW)
  hashes += 1
  const hash = `hash ${hashes}`
  const expires_at = '2027-01-01T00:00:00.000Z'
  const session = {
    user_id: userId,
    token_hash: hash,
    expires_at,
    user_agent: '',
    ip: '',
    proven_by: 'password',
  } as const
  const sid = String(await addSession(db, session, NOW))
  return {
    userId,
    sid,
    hash,
    token: await sessions.accessToken(bearerOf({ id: userId, username, isAdmin: false, sid }, new Date(NOW))),
  }
}

const believed = async (sessions: Sessions, ...clients: Client[]) =>
  Promise.all(clients.map(async ({ token }) => (await sessions.verify(token)) !== undefined))

test('a session ends by its id: its token is refused at once, though it was verified before', async () => {
  const sessions = await instance()
  const [one, two, alice] = [await signIn(sessions), await signIn(sessions), await signIn(sessions, 'alice')]
  expect(await believed(sessions, one, two, alice)).toEqual([true, true, true])

  expect(await sessions.end({ userId: one.userId, id: Number(one.sid) })).toBe(1)

  expect(await believed(sessions, one, two, alice)).toEqual([false, true, true])
})

test('a session ends by the hash of its refresh token, if it belongs to the user', async () => {
  const sessions = await instance()
  const [bob, alice] = [await signIn(sessions), await signIn(sessions, 'alice')]

  expect(await sessions.end({ userId: alice.userId, tokenHash: bob.hash })).toBe(0)
  expect(await sessions.end({ userId: alice.userId, id: Number(bob.sid) })).toBe(0)
  expect(await believed(sessions, bob, alice)).toEqual([true, true])
  expect(await sessions.end({ userId: bob.userId, tokenHash: bob.hash })).toBe(1)
  expect(await believed(sessions, bob, alice)).toEqual([false, true])
})

test('all sessions of a user can end, or all sessions', async () => {
  const sessions = await instance()
  const [one, two, alice] = [await signIn(sessions), await signIn(sessions), await signIn(sessions, 'alice')]

  expect(await sessions.end({ userId: one.userId })).toBe(2)
  expect(await believed(sessions, one, two, alice)).toEqual([false, false, true])
  const again = await signIn(sessions)
  expect(await believed(sessions, again)).toEqual([true])
  expect(await sessions.end('all')).toBe(2)
  expect(await believed(sessions, again, alice)).toEqual([false, false])
  expect(await sessions.end('all')).toBe(0)
})

test('a token issued in a session after its end is refused', async () => {
  const sessions = await instance()
  const bob = await signIn(sessions)
  await sessions.end({ userId: bob.userId })

  const token = await sessions.accessToken(
    bearerOf({ id: bob.userId, username: 'bob', isAdmin: false, sid: bob.sid }, new Date(NOW)),
  )

  expect(await sessions.verify(token)).toBeUndefined()
})

test('another instance learns of an end within 31 s, by verifying alone', async () => {
  const [here, there] = [await instance(), await instance()]
  const [bob, alice] = [await signIn(here), await signIn(here, 'alice')]
  expect(await believed(there, bob, alice)).toEqual([true, true])

  await here.end({ userId: bob.userId })
  expect(await believed(here, bob, alice)).toEqual([false, true])
  now += 31_000

  expect(await believed(there, bob, alice)).toEqual([false, true])
})

test('a new instance knows earlier ends from its start', async () => {
  const before = await instance()
  const bob = await signIn(before)
  await before.end({ userId: bob.userId })

  const after = await instance()

  expect(await believed(after, bob)).toEqual([false])
})

test('between reads the database is not asked; then one read serves all concurrent calls', async () => {
  const sessions = await instance()
  const [bob, alice] = [await signIn(sessions), await signIn(sessions, 'alice')]
  await believed(sessions, bob, alice)
  queries = 0

  now += 30_000
  await believed(sessions, bob, alice)
  expect(queries).toBe(0)
  now += 1
  expect(await believed(sessions, bob, alice, bob, alice)).toEqual([true, true, true, true])
  const once = queries
  expect(once).toBeGreaterThan(0)
  expect(once).toBeLessThanOrEqual(2)
  await believed(sessions, bob, alice)
  expect(queries).toBe(once)
})

test('a clock set back does not delay an instance', async () => {
  const [here, there] = [await instance(), await instance()]
  const bob = await signIn(here)
  await believed(there, bob)
  await here.end({ userId: bob.userId })

  now -= 31_000

  expect(await believed(there, bob)).toEqual([false])
})

test('a listener is called once, for the right session, wherever it ended', async () => {
  const [here, there] = [await instance(), await instance()]
  const [bob, alice] = [await signIn(here), await signIn(here, 'alice')]
  const called: string[] = []
  here.onEnd(bob.sid, () => called.push('here'))
  here.onEnd(bob.sid, () => called.push('here as well'))
  there.onEnd(bob.sid, () => called.push('there'))
  here.onEnd(alice.sid, () => called.push('alice'))

  await here.end({ userId: bob.userId })
  expect(called).toEqual(['here', 'here as well'])
  await there.refresh()
  expect(called).toEqual(['here', 'here as well', 'there'])
  now += 31_000
  await Promise.all([here.refresh(), there.refresh(), here.end('all')])

  expect(called).toEqual(['here', 'here as well', 'there', 'alice'])
})

test('a late listener is called at once', async () => {
  const sessions = await instance()
  const bob = await signIn(sessions)
  await sessions.end({ userId: bob.userId })
  let called = 0

  const leave = sessions.onEnd(bob.sid, () => {
    called += 1
  })

  expect(called).toBe(1)
  leave()
  await sessions.refresh()
  expect(called).toBe(1)
})

test('a removed listener is not called, and the others still are', async () => {
  const sessions = await instance()
  const bob = await signIn(sessions)
  const called: string[] = []
  const leave = sessions.onEnd(bob.sid, () => called.push('left'))
  sessions.onEnd(bob.sid, () => called.push('stayed'))

  leave()
  leave()
  await sessions.end({ userId: bob.userId })

  expect(called).toEqual(['stayed'])
})

test('a late removal does not affect newer listeners', async () => {
  const sessions = await instance()
  const bob = await signIn(sessions)
  const called: string[] = []
  const leave = sessions.onEnd(bob.sid, () => called.push('first'))
  leave()
  sessions.onEnd(bob.sid, () => called.push('second'))
  leave()

  await sessions.end({ userId: bob.userId })

  expect(called).toEqual(['second'])
})

test('a deleted user has not been signed out', async () => {
  const sessions = await instance()
  const bob = await signIn(sessions)
  let called = 0
  sessions.onEnd(bob.sid, () => {
    called += 1
  })

  await db.run('DELETE FROM users')
  now += 31_000

  expect(await believed(sessions, bob)).toEqual([true])
  expect(await db.query(z.unknown(), 'SELECT id FROM sessions')).toEqual([])
  expect(called).toBe(0)
})

test('an expired session has not been signed out either', async () => {
  const sessions = await instance()
  const bob = await signIn(sessions)
  await db.run('DELETE FROM sessions')
  now += 31_000

  expect(await believed(sessions, bob)).toEqual([true])
})

test('while the ended sessions cannot be read, verification fails instead of refusing the user', async () => {
  const sessions = await instance()
  const bob = await signIn(sessions)
  await believed(sessions, bob)
  await db.script('ALTER TABLE ended_sessions RENAME TO gone')

  expect(await believed(sessions, bob)).toEqual([true])
  now += 31_000
  for (const token of [bob.token, 'x']) {
    const verified = Promise.resolve(sessions.verify(token))
    await expect(verified).rejects.toThrow(StorageError)
  }

  await db.script('ALTER TABLE gone RENAME TO ended_sessions')
  expect(await believed(sessions, bob)).toEqual([true])
})

test('an end that cannot be stored is reported as a failure, and nobody is signed out', async () => {
  const sessions = await instance()
  const bob = await signIn(sessions)
  await db.script('ALTER TABLE ended_sessions RENAME TO gone')

  await expect(sessions.end({ userId: bob.userId })).rejects.toThrow(StorageError)

  expect(await db.query(z.unknown(), 'SELECT id FROM sessions')).toHaveLength(1)
  await db.script('ALTER TABLE gone RENAME TO ended_sessions')
  expect(await believed(sessions, bob)).toEqual([true])
})

test('an end stays known when the clock is fast for a while', async () => {
  const sessions = await instance()
  const bob = await signIn(sessions)
  await sessions.end({ userId: bob.userId })

  now += 20 * 60_000
  await sessions.refresh()
  now -= 20 * 60_000

  expect(await believed(sessions, bob)).toEqual([false])
})

test('an end that is stored but cannot be read is in force: no token is accepted until it is read', async () => {
  let broken = false
  const failing: Database = {
    ...db,
    query: (row, sql, args) => {
      if (broken && sql.includes('ended_sessions')) return Promise.reject(new StorageError('cut'))
      return db.query(row, sql, args)
    },
  }
  const sessions = await instance({ on: failing })
  const bob = await signIn(sessions)
  expect(await believed(sessions, bob)).toEqual([true])

  broken = true
  expect(await sessions.end({ userId: bob.userId })).toBe(1)
  await expect(believed(sessions, bob)).rejects.toThrow(StorageError)
  broken = false

  expect(await believed(sessions, bob)).toEqual([false])
})

test('pruned ends do not return, and new ones are read', async () => {
  const [here, there] = [await instance(), await instance()]
  const [one, two] = [await signIn(here), await signIn(here)]
  await here.end({ userId: one.userId, id: Number(one.sid) })
  await there.refresh()
  await pruneEndedSessions(db, '2027-01-01T00:00:00.000Z')

  await here.end({ userId: two.userId, id: Number(two.sid) })
  await there.refresh()

  expect(await believed(there, one, two)).toEqual([false, false])
})

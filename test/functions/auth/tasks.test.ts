import { generateKeyPairSync } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Database } from '../../../db/libsql/database.ts'
import { endSessions } from '../../../db/sessions.ts'
import { saveUser } from '../../../db/users.ts'
import pruneAttempts from '../../../functions/auth/prune-attempts.task.ts'
import pruneSessions from '../../../functions/auth/prune-sessions.task.ts'
import syncEndedSessions from '../../../functions/auth/sync-ended-sessions.task.ts'
import login from '../../../functions/auth/login.post.ts'
import me from '../../../functions/auth/me.get.ts'
import refresh from '../../../functions/auth/refresh.post.ts'
import { tasks } from '../../../functions/background.ts'
import { startTasks } from '../../../runtime/task.ts'
import { createSessions } from '../../../sessions/sessions.ts'
import { START, testApp } from '../../app.ts'
import { rows } from '../answers.ts'
import { typeCommand } from '../console.ts'
import { type App, refreshStatus, signIn, storedSessions } from './client.ts'

const NOW = START.toISOString()

/** Stores sessions that expire at these times; their ids are 1, 2, 3 … */
async function sessionsUntil(app: App, ...moments: string[]) {
  const { id } = await saveUser(app.db, 'bob', false, NOW)
  for (const [at, expires] of moments.entries())
    await app.db.run(
      `INSERT INTO sessions (user_id, token_hash, expires_at, user_agent, ip, created_at) VALUES (?, ?, ?, '', '', ?)`,
      [id, `hash ${at}`, expires, NOW],
    )
}

test('prune-sessions removes expired sessions, in either timestamp format, and no others', async () => {
  const app = await testApp([])
  await sessionsUntil(
    app,
    '2026-03-01T12:00:00.000Z',
    '2026-03-01 11:59:59',
    '2026-03-01T12:00:00.001Z',
    '2026-03-01 12:00:01',
    '2025-12-31 00:00:00',
  )

  await pruneSessions.run(app.services)

  expect(await storedSessions(app)).toEqual([3, 4])
  expect(app.lines().filter((line) => line.includes('"removed":3'))).toHaveLength(1)
  expect(await rows(app.db, 'SELECT * FROM ended_sessions')).toEqual([])
})

test('prune-sessions logs nothing when nothing has expired', async () => {
  const app = await testApp([])
  await sessionsUntil(app, '2026-03-08T12:00:00.000Z')

  await pruneSessions.run(app.services)

  expect(await storedSessions(app)).toEqual([1])
  expect(app.lines().join('\n')).not.toContain('removed')
})

test('prune-sessions keeps the end of a session for a day', async () => {
  const app = await testApp([])
  await sessionsUntil(app, '2027-03-01T12:00:00.000Z', '2027-03-01T12:00:00.000Z')
  await app.services.sessions.end({ userId: 1, id: 1 })
  app.advance(1_000)
  await app.services.sessions.end({ userId: 1, id: 2 })
  const ended = () => rows(app.db, 'SELECT session_id FROM ended_sessions ORDER BY seq')

  app.advance(86_399_000)
  await pruneSessions.run(app.services)
  expect(await ended()).toEqual([{ session_id: 1 }, { session_id: 2 }])
  app.advance(1)
  await pruneSessions.run(app.services)
  expect(await ended()).toEqual([{ session_id: 2 }])
})

test('pruned ends are never counted again: later ends are still read', async () => {
  const app = await testApp([])
  const { db, services } = app
  await sessionsUntil(app, '2027-03-01T12:00:00.000Z', '2027-03-01T12:00:00.000Z')
  await services.sessions.end({ userId: 1, id: 1 })
  app.advance(2 * 86_400_000)
  await pruneSessions.run(services)
  expect(await rows(db, 'SELECT * FROM ended_sessions')).toEqual([])
  let reported = 0
  services.sessions.onEnd('2', () => {
    reported += 1
  })

  await endSessions(db, { userId: 1, id: 2 }, services.clock().toISOString())
  await syncEndedSessions.run(services)

  expect(reported).toBe(1)
})

test('prune-attempts removes expired attempts and keeps the limit in force', async () => {
  const app = await testApp([login])
  const attempt = async (from: string) =>
    (await app.request('POST', '/api/auth/login', { body: { username: 'bob', password: 'x' }, from })).status
  await attempt('203.0.113.1')
  app.advance(570_000)
  for (let round = 0; round < 5; round += 1) await attempt('203.0.113.2')
  app.advance(30_000)
  const addresses = () => rows(app.db, 'SELECT DISTINCT address FROM rate_hits ORDER BY address')

  await pruneAttempts.run(app.services)
  expect(await addresses()).toHaveLength(2)
  app.advance(1)
  await pruneAttempts.run(app.services)
  expect(await addresses()).toEqual([{ address: '203.0.113.2' }])
  expect(await attempt('203.0.113.2')).toBe(429)
})

test('prune-attempts keeps attempts for ten minutes, and removes them a millisecond later', async () => {
  const app = await testApp([])
  await app.db.run(`INSERT INTO rate_hits VALUES ('login', 'me', ?)`, [START.getTime()])

  app.advance(600_000)
  await pruneAttempts.run(app.services)
  expect(await rows(app.db, 'SELECT * FROM rate_hits')).toHaveLength(1)
  app.advance(1)
  await pruneAttempts.run(app.services)
  expect(await rows(app.db, 'SELECT * FROM rate_hits')).toEqual([])
})

test('sync-ended-sessions reports a session that another instance has ended, once', async () => {
  const app = await testApp([login, me])
  const { db, secrets, services } = app
  const [bob, other] = [await signIn(app), await signIn(app)]
  const elsewhere = await createSessions({ ...services, secrets, jwtKey: undefined, refreshDays: 7 })
  const reported: number[] = []
  for (const { sid } of [bob, other]) services.sessions.onEnd(String(sid), () => reported.push(sid))

  await elsewhere.end({ userId: bob.userId, id: bob.sid })
  expect(reported).toEqual([])
  await syncEndedSessions.run(services)
  await syncEndedSessions.run(services)

  expect(reported).toEqual([bob.sid])
  expect(await services.sessions.verify(bob.token)).toBeUndefined()
  expect(await services.sessions.verify(other.token)).toMatchObject({ username: 'bob' })
  expect(await rows(db, 'SELECT id FROM sessions')).toEqual([{ id: other.sid }])
})

test('a running service learns within two seconds which sessions the console has ended', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const app = await testApp([login, me])
  const [bob, alice] = [await signIn(app), await signIn(app, 'alice')]
  const running = startTasks(
    tasks.filter(({ name }) => name === 'sync-ended-sessions'),
    app.services,
  )
  onTestFinished(() => running.stop())
  const told = new Promise<void>((resolve) => {
    app.services.sessions.onEnd(String(bob.sid), resolve)
  })
  await vi.advanceTimersByTimeAsync(10_000)

  // The console is a process of its own, with its own view of the sessions.
  await typeCommand(app.services, ['sessions', 'end', 'bob'])
  expect(await app.services.sessions.verify(bob.token)).toBeDefined()
  await vi.advanceTimersByTimeAsync(2_000)
  await told

  expect(await app.services.sessions.verify(bob.token)).toBeUndefined()
  expect(await app.services.sessions.verify(alice.token)).toBeDefined()
})

test('the ended sessions are read every two seconds, and the signing keys every twenty', async () => {
  const app = await testApp([])
  const { sessions, read, written } = await counted(app)

  for (let n = 0; n < 30; n += 1) {
    app.advance(2_000)
    await syncEndedSessions.run({ ...app.services, sessions })
  }

  expect(read('ended_sessions')).toBe(30)
  expect(read('signing_keys')).toBe(3)
  expect(written()).toBe(0)
})

test('an instance that still has a revoked key in its environment does not write it again and again', async () => {
  const app = await testApp([])
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwtKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const { sessions, read, written } = await counted(app, jwtKey)
  await typeCommand(app.services, ['keys', 'rotate', '--revoke'])

  for (let n = 0; n < 30; n += 1) {
    app.advance(2_000)
    await syncEndedSessions.run({ ...app.services, sessions })
  }

  expect(read('ended_sessions')).toBe(30)
  expect(written()).toBeLessThanOrEqual(1)
  expect(app.lines().filter((line) => line.includes('PANEL_JWT_KEY is revoked'))).toHaveLength(1)
})

/** Another instance on the same database, whose queries of a table and whose writes are counted from now on. */
async function counted({ services, secrets }: App, jwtKey?: string) {
  const queries: string[] = []
  const writes: unknown[] = []
  const db: Database = {
    ...services.db,
    query(row, sql, args) {
      queries.push(sql)
      return services.db.query(row, sql, args)
    },
    run(sql, args) {
      writes.push(sql)
      return services.db.run(sql, args)
    },
    batch(statements) {
      writes.push(statements)
      return services.db.batch(statements)
    },
  }
  const sessions = await createSessions({ ...services, db, secrets, jwtKey, refreshDays: 7 })
  queries.length = 0
  writes.length = 0
  return {
    sessions,
    read: (table: string) => queries.filter((sql) => sql.includes(table)).length,
    written: () => writes.length,
  }
}

test('the tasks keep data in use', async () => {
  const app = await testApp([login, me, refresh])
  const bob = await signIn(app)

  for (const task of [pruneAttempts, pruneSessions, syncEndedSessions]) await task.run(app.services)

  expect(await refreshStatus(app, bob)).toBe(200)
})

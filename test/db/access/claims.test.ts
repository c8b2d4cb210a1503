import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import {
  addChallenge,
  countAnswer,
  countAnswerOfNobody,
  findOpenChallenge,
  isOver,
  usingChallenge,
  usingChallengeOfNobody,
} from '../../../db/access/challenges.ts'
import { isLostClaim, MUST_CHANGE } from '../../../db/access/claims.ts'
import { countFactorAnswer, removingFactor, usingRecoveryCode, usingStep } from '../../../db/access/factors.ts'
import { openDatabase } from '../../../db/libsql/client.ts'
import type { Database, Statement } from '../../../db/libsql/database.ts'
import { migrate } from '../../../db/migrate.ts'
import { saveUser } from '../../../db/users.ts'
import { startLibsqlServer } from '../../libsql-server.ts'
import { NOW, openMigrated } from '../database.ts'
import { temporaryFolder } from '../folder.ts'

const LATER = '2099-01-01T00:00:00.000Z'
const CHALLENGE = { hash: 'h', user_id: 1, purpose: 'sign_in', data_sealed: 'sealed' }
const Count = z.object({ n: z.number() })

/** The change that a won claim allows. */
const ALLOWED: Statement = { sql: 'INSERT INTO recovery_codes (user_id, hash) VALUES (1, hex(randomblob(8)))' }
const allowed = (db: Database) =>
  db.query(Count, `SELECT count(*) AS n FROM recovery_codes WHERE hash <> 'code'`).then(([row]) => row?.n)

async function fill(db: Database) {
  await saveUser(db, 'bob', false, NOW)
  await addChallenge(db, CHALLENGE, { now: NOW, expires: LATER })
  await db.batch([
    {
      sql: `INSERT INTO factors (user_id, kind, name, secret_sealed, last_step, created_at) VALUES (1, 'totp', 'a', 's', 7, ?)`,
      args: [NOW],
    },
    { sql: `INSERT INTO recovery_codes (user_id, hash) VALUES (1, 'code')` },
  ])
}

const PLACES: [string, () => Promise<string>][] = [
  ['a file', async () => `file:${join(await temporaryFolder(), 'panel.db')}`],
  [
    'a server',
    async () => {
      const server = await startLibsqlServer()
      onTestFinished(server.stop)
      return server.url
    },
  ],
]

test.each(PLACES)(
  'of the claims that several instances with %s make at once, one of each kind is won',
  async (_, at) => {
    const url = await at()
    const instances: Database[] = []
    for (let n = 0; n < 3; n += 1) instances.push(await openDatabase(url))
    const [first] = instances
    if (!first) throw new Error('no instance')
    onTestFinished(async () => {
      for (const db of instances) await db.close()
    })
    await migrate(first, new Date(NOW))
    await fill(first)

    for (const claim of [usingChallenge('h', NOW), usingStep(1, 8, NOW), usingRecoveryCode(1, 'code', NOW)]) {
      const before = (await allowed(first)) ?? 0
      const ended = await Promise.allSettled(
        instances.flatMap((db) => [db.batch([ALLOWED, ...claim]), db.batch([...claim, ALLOWED])]),
      )
      expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(ended.flatMap((each) => (each.status === 'rejected' ? [isLostClaim(each.reason)] : []))).toEqual(
        Array(5).fill(true),
      )
      expect(await allowed(first)).toBe(before + 1)
    }
  },
)

test('another failure of a transaction is no lost claim', async () => {
  const db = await openMigrated()

  await expect(db.batch([{ sql: 'INSERT INTO nowhere VALUES (1)' }, MUST_CHANGE])).rejects.toSatisfy(
    (error: unknown) => !isLostClaim(error),
  )
  expect(isLostClaim(new Error('claim_lost'))).toBe(false)
})

test('a step that is not later than the last used one is not claimed', async () => {
  const db = await openMigrated()
  await fill(db)

  for (const step of [6, 7]) await expect(db.batch(usingStep(1, step, NOW))).rejects.toSatisfy(isLostClaim)
  await db.batch(usingStep(1, 9, NOW))
  await expect(db.batch(usingStep(1, 8, NOW))).rejects.toSatisfy(isLostClaim)
})

test('an expired challenge is neither found, answered nor used', async () => {
  const db = await openMigrated()
  await fill(db)
  expect(await findOpenChallenge(db, CHALLENGE, NOW)).toMatchObject(CHALLENGE)

  expect(await findOpenChallenge(db, CHALLENGE, LATER)).toBeUndefined()
  expect(await countAnswer(db, 'h', LATER)).toBe(false)
  await expect(db.batch(usingChallenge('h', LATER))).rejects.toSatisfy(isLostClaim)
})

test('a challenge takes five answers, and is found no more after them', async () => {
  const db = await openMigrated()
  await fill(db)

  const taken = await Promise.all(Array.from({ length: 8 }, () => countAnswer(db, 'h', NOW)))

  expect(taken.filter(Boolean)).toHaveLength(5)
  expect(await findOpenChallenge(db, CHALLENGE, NOW)).toBeUndefined()
})

test('a challenge of nobody is stored by its first answer, takes five, is used once, and none of other people goes', async () => {
  const db = await openMigrated()
  await fill(db)
  const ofNobody = { hash: 'nobody', purpose: 'passkey_sign_in', expires: LATER }

  const taken = await Promise.all(Array.from({ length: 8 }, () => countAnswerOfNobody(db, ofNobody, NOW)))
  expect(taken.filter(Boolean)).toHaveLength(5)
  expect(await isOver(db, 'nobody')).toBe(true)
  await db.batch(usingChallengeOfNobody('nobody', NOW))
  await expect(db.batch(usingChallengeOfNobody('nobody', NOW))).rejects.toSatisfy(isLostClaim)

  const used = { ...ofNobody, hash: 'used' }
  expect([await isOver(db, 'used'), await countAnswerOfNobody(db, used, NOW)]).toEqual([false, true])
  await db.batch(usingChallengeOfNobody('used', NOW))
  expect([await isOver(db, 'used'), await countAnswerOfNobody(db, used, NOW)]).toEqual([true, false])
  expect(await countAnswerOfNobody(db, { ...ofNobody, hash: 'late' }, LATER)).toBe(false)
  expect(await findOpenChallenge(db, { hash: 'nobody', purpose: 'passkey_sign_in' }, NOW)).toBeUndefined()
  expect(await findOpenChallenge(db, CHALLENGE, NOW)).toBeDefined()
})

test('challenges of a user push none of another purpose out, and none of somebody else', async () => {
  const db = await openMigrated()
  await fill(db)
  const { id } = await saveUser(db, 'carol', false, NOW)
  const link = { ...CHALLENGE, hash: 'link', purpose: 'console' }
  const other = { ...CHALLENGE, hash: 'carol', user_id: id }
  for (const each of [link, other]) await addChallenge(db, each, { now: NOW, expires: LATER })

  for (let n = 0; n < 25; n++)
    await addChallenge(db, { ...CHALLENGE, hash: `sign-in ${n}` }, { now: NOW, expires: LATER })

  for (const each of [link, other]) expect(await findOpenChallenge(db, each, NOW)).toBeDefined()
  expect(await findOpenChallenge(db, CHALLENGE, NOW)).toBeUndefined()
})

test('the last of two factors that are removed at once stays where one must', async () => {
  const db = await openMigrated()
  await fill(db)
  await db.run(`INSERT INTO factors (user_id, kind, name, secret_sealed, created_at) VALUES (1, 'totp', 'b', 's', ?)`, [
    NOW,
  ])

  const ended = await Promise.allSettled([1, 2].map((id) => db.batch(removingFactor({ id, userId: 1 }, true))))

  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await expect(db.batch(removingFactor({ id: 2, userId: 7 }, false))).rejects.toSatisfy(isLostClaim)
  expect(await db.query(Count, 'SELECT count(*) AS n FROM factors')).toEqual([{ n: 1 }])
})

test('ten answers lock a kind of factor, an hour without one forgets them, and a lock ends by itself', async () => {
  const db = await openMigrated()
  await fill(db)
  const at = (minutes: number) => new Date(Date.parse(NOW) + minutes * 60_000).toISOString()
  const answer = (minutes: number, kind: 'totp' | 'recovery' = 'totp') =>
    countFactorAnswer(
      db,
      { userId: 1, kind },
      { now: at(minutes), since: at(minutes - 60), lockedUntil: at(minutes + 60), ahead: at(minutes + 65), most: 10 },
    )

  for (let n = 0; n < 9; n += 1) expect(await answer(0)).toBeUndefined()
  // The hour is over: the row begins again.
  for (let n = 0; n < 10; n += 1) expect(await answer(60 + n)).toBeUndefined()
  expect(await answer(70)).toBe(at(129))
  expect(await answer(128)).toBe(at(129))
  expect(await answer(70, 'recovery')).toBeUndefined()
  for (let n = 0; n < 9; n += 1) expect(await answer(129)).toBeUndefined()
  expect(await answer(129)).toBeUndefined()
  expect(await answer(129)).toBe(at(189))
})

import { expect, inject, onTestFinished, test } from 'vitest'
import { addApiToken, findApiTokenById, type NewApiToken, removeApiToken } from '../../db/access/api-tokens.ts'
import { auditEntry } from '../../db/audit.ts'
import { addSigningKey } from '../../db/signing-keys.ts'
import { confirmRights, saveUser } from '../../db/users.ts'
import { createLog } from '../../platform/log.ts'
import { createSecrets } from '../../platform/secrets.ts'
import { createSessions, newApiToken, type Sessions } from '../../sessions/sessions.ts'
import { NOW, openMigrated } from '../db/database.ts'

const { log } = createLog({ level: 'silent', write: () => {} })
const secrets = createSecrets(Buffer.alloc(32, 7))
const entry = auditEntry(
  { action: 'token_revoked', user_id: null, username: null, target: null, ip: '', details: null },
  NOW,
)

/** Two instances on one database with one clock, and a host that answers when the test lets it. */
async function start() {
  const db = await openMigrated()
  onTestFinished(() => db.close())
  const { kid, pem, public_jwk } = inject('signingKey')
  const private_sealed = secrets.seal(`signing_key:${kid}`, pem)
  await addSigningKey(db, { kid, public_jwk, private_sealed, origin: 'made', created_at: NOW })
  let now = Date.parse(NOW)
  const clock = () => new Date(now)
  const asked: number[] = []
  let answer: (userId: number) => Promise<boolean> = async (userId) => {
    await confirmRights(db, userId, clock().toISOString())
    return true
  }
  const instance = () =>
    createSessions({
      db,
      secrets,
      clock,
      log,
      jwtKey: undefined,
      refreshDays: 7,
      askHost(userId) {
        asked.push(userId)
        return answer(userId)
      },
    })
  const [here, there] = [await instance(), await instance()]
  const owner = await saveUser(db, 'alice', true, NOW)
  await confirmRights(db, owner.id, NOW)
  const add = async (token: Partial<NewApiToken> = {}) => {
    const made = newApiToken(secrets)
    const wanted = { user_id: owner.id, name: 'x', role: 'admin', targets: 'all', expires_at: null, ...token } as const
    const row = await addApiToken(db, { ...wanted, hash: made.hash }, { now: NOW, most: 50, entry })
    return { token: made.token, id: row?.id ?? 0 }
  }
  return {
    db,
    here,
    there,
    owner,
    add,
    asked,
    advance: (ms: number) => {
      now += ms
    },
    answer: (next: typeof answer) => {
      answer = next
    },
  }
}

const accepts = async (sessions: Sessions, token: string) => (await sessions.verify(token)) !== undefined

test('a token acts as its owner, never proven, on every instance', async () => {
  const { here, there, owner, add } = await start()
  const { token, id } = await add({ targets: ['host'] })

  for (const sessions of [here, there])
    expect(await sessions.verify(token)).toEqual({
      id: owner.id,
      username: 'alice',
      role: 'admin',
      operates: ['host'],
      targets: ['host'],
      credential: 'token',
      sid: `token:${id}`,
      expires: Number.POSITIVE_INFINITY,
      proven: 0,
      enrolling: false,
    })
})

test('a revoked token is refused here at once, and on another instance within ten seconds', async () => {
  const { db, here, there, add, advance } = await start()
  const { token, id } = await add()
  expect([await accepts(here, token), await accepts(there, token)]).toEqual([true, true])

  await removeApiToken(db, id, entry)
  await here.endTokens({ id })

  expect([await accepts(here, token), await accepts(there, token)]).toEqual([false, true])
  advance(10_000)
  expect(await accepts(there, token)).toBe(false)
})

test('a look-up that was under way during a revocation is not kept', async () => {
  const { db, here, add } = await start()
  const { token, id } = await add()
  const original = db.query
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  db.query = async (...query) => {
    const found = await original(...query)
    db.query = original
    await held
    return found
  }
  const underWay = here.verify(token)
  await removeApiToken(db, id, entry)
  await here.endTokens({ id })
  release()

  await underWay
  expect(await accepts(here, token)).toBe(false)
})

test('the end of a token is told to whoever listens, that of all of a user’s tokens to each of them', async () => {
  const { here, owner, add } = await start()
  const [one, two, three] = [await add(), await add(), await add()]
  const told: number[] = []
  for (const { id } of [one, two, three]) here.onEnd(`token:${id}`, () => told.push(id))

  await here.endTokens({ id: two.id })
  expect(told).toEqual([two.id])
  await here.endTokens({ userId: owner.id })
  expect(told.toSorted()).toEqual([one.id, two.id, three.id].toSorted())
  // A bar is lifted again: nothing but what is stored refuses a token.
  expect(await accepts(here, one.token)).toBe(true)
})

test('all tokens of an owner share one question to the host, and one look-up serves requests that come together', async () => {
  const { db, here, add, asked, advance } = await start()
  const [one, two] = [await add(), await add()]
  advance(14 * 60_000)
  const original = db.query
  let queries = 0
  db.query = (...query) => {
    queries += 1
    return original(...query)
  }

  const users = await Promise.all([one, two, one, two, one].map(({ token }) => here.verify(token)))

  expect(users.map((user) => user?.role)).toEqual(['admin', 'admin', 'admin', 'admin', 'admin'])
  expect(asked).toHaveLength(1)
  expect(queries).toBe(4)
})

test('a question that fails refuses the request as a failure, and the next one asks again', async () => {
  const { here, add, asked, advance, answer } = await start()
  const { token } = await add()
  advance(14 * 60_000)
  answer(async () => {
    throw new Error('the database is away')
  })

  await expect(here.verify(token)).rejects.toThrow('the database is away')
  await expect(here.verify(token)).rejects.toThrow('the database is away')
  expect(asked).toHaveLength(2)
})

test('without a way to ask the host, a token is refused once its owner’s rights are too old', async () => {
  const { db, add, advance } = await start()
  const { token } = await add()
  const clock = { now: Date.parse(NOW) }
  const alone = await createSessions({
    db,
    secrets,
    clock: () => new Date(clock.now),
    log,
    jwtKey: undefined,
    refreshDays: 7,
  })

  clock.now += 14 * 60_000 - 1
  advance(0)
  expect(await accepts(alone, token)).toBe(true)
  clock.now += 10_000
  expect(await accepts(alone, token)).toBe(false)
})

test('only tokens of this service are plausible, without a query', async () => {
  const { db, here, add } = await start()
  const { token } = await add()
  const foreign = newApiToken(createSecrets(Buffer.alloc(32, 8))).token
  db.query = () => {
    throw new Error('no query')
  }

  expect(here.isPlausible(token)).toBe(true)
  for (const other of [foreign, `opt_${'A'.repeat(43)}`, 'opt_', `${token}A`, token.slice(0, -1)])
    expect(here.isPlausible(other)).toBe(false)
})

test('tokens differ, and each row has its own', async () => {
  const { db, add } = await start()
  const made = await Promise.all(Array.from({ length: 20 }, () => add()))

  expect(new Set(made.map(({ token }) => token)).size).toBe(20)
  expect(new Set(made.map(({ id }) => id)).size).toBe(20)
  expect(await findApiTokenById(db, made[0]?.id ?? 0)).toMatchObject({ name: 'x', username: 'alice' })
})

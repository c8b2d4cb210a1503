import { expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import {
  addApiToken,
  apiTokenIds,
  findApiToken,
  listApiTokens,
  removeApiToken,
  removingApiTokens,
  touchApiToken,
} from '../../../db/access/api-tokens.ts'
import { auditEntry } from '../../../db/audit.ts'
import { changeRights, confirmRights, findHostAccount, saveUser } from '../../../db/users.ts'
import { NOW, openMigrated } from '../database.ts'

const LATER = '2026-03-01T12:00:01.000Z'
const entry = auditEntry(
  { action: 'token_created', user_id: null, username: null, target: null, ip: '', details: '{"role":"viewer"}' },
  NOW,
)

async function start() {
  const db = await openMigrated()
  onTestFinished(() => db.close())
  const alice = await saveUser(db, 'alice', false, NOW, { kept_out: false, own_word: 'user', operates: null, uid: 7 })
  const add = (hash: string, most = 50, user_id = alice.id) =>
    addApiToken(
      db,
      { user_id, name: hash, hash, role: 'viewer', targets: ['host'], expires_at: null },
      { now: NOW, most, entry },
    )
  const details = () => db.query(z.object({ details: z.string() }), 'SELECT details FROM audit ORDER BY id')
  return { db, alice, add, details }
}

test('a token is found by its hash alone, with what its owner may do', async () => {
  const { db, alice, add } = await start()
  const added = await add('a1')

  expect(await findApiToken(db, 'a1')).toEqual(added)
  expect(added).toEqual({
    id: added?.id,
    user_id: alice.id,
    username: 'alice',
    name: 'a1',
    role: 'viewer',
    targets: ['host'],
    created_at: NOW,
    expires_at: null,
    last_used_at: null,
    last_ip: null,
    is_admin: false,
    operates: null,
    kept_out: false,
    barred_at: null,
    rights_at: NOW,
  })
  for (const hash of ['', 'a', 'A1', '%']) expect(await findApiToken(db, hash)).toBeUndefined()
})

test('a token beyond the limit is neither stored nor in the audit log; a removal that finds none is not there either', async () => {
  const { db, add, details } = await start()
  const added = await add('a1', 1)

  expect(await add('a2', 1)).toBeUndefined()
  expect(await removeApiToken(db, 99, entry)).toBe(false)

  expect((await details()).map((row) => JSON.parse(row.details))).toEqual([{ role: 'viewer', id: added?.id }])
  expect(await removeApiToken(db, added?.id ?? 0, entry)).toBe(true)
  expect(await details()).toHaveLength(2)
})

test('two tokens with one hash are impossible, and nothing of the second one is stored', async () => {
  const { add, details } = await start()
  await add('a1')

  await expect(add('a1')).rejects.toThrow('UNIQUE')

  expect(await details()).toHaveLength(1)
})

test('the tokens of one user are listed and removed without those of another', async () => {
  const { db, alice, add } = await start()
  const bob = await saveUser(db, 'bob', false, NOW)
  await add('a1')
  await add('b1', 50, bob.id)
  await add('a2')

  expect((await listApiTokens(db, alice.id)).map(({ name }) => name)).toEqual(['a2', 'a1'])
  expect((await listApiTokens(db)).map(({ name }) => name)).toEqual(['a2', 'b1', 'a1'])
  await db.batch([removingApiTokens(alice.id)])
  expect(await apiTokenIds(db, alice.id)).toEqual([])
  expect(await apiTokenIds(db, bob.id)).toHaveLength(1)
})

test('a use that is noted late does not replace a later one', async () => {
  const { db, add } = await start()
  const id = (await add('a1'))?.id ?? 0

  await touchApiToken(db, id, LATER, '192.0.2.2')
  await touchApiToken(db, id, NOW, '192.0.2.1')

  expect(await findApiToken(db, 'a1')).toMatchObject({ last_used_at: LATER, last_ip: '192.0.2.2' })
})

test('rights are confirmed by a sign-in of which the host tells the uid, by a look, and no more once refused', async () => {
  const { db, alice } = await start()
  const at = async () => (await findHostAccount(db, alice.id))?.rights_at
  const silent = { kept_out: false, own_word: 'user' } as const
  expect(await at()).toBe(NOW)

  await saveUser(db, 'alice', false, LATER, silent)
  expect(await at()).toBe(NOW)
  await saveUser(db, 'alice', false, LATER, { ...silent, uid: 7 })
  expect(await at()).toBe(LATER)
  await confirmRights(db, alice.id, null)
  expect(await at()).toBeNull()
  const account = { id: alice.id, is_admin: true, operates: 'all', kept_out: false, uid: 7, rights_at: NOW } as const
  await changeRights(db, account, entry)
  expect(await at()).toBe(NOW)
  const bob = await saveUser(db, 'bob', false, NOW)
  expect(await findHostAccount(db, bob.id)).toMatchObject({ rights_at: null })
})

test('of the tokens of an owner that have expired, the newest hundred stay', async () => {
  const { db, alice, add } = await start()
  const others = await saveUser(db, 'bob', false, NOW, { kept_out: false, own_word: 'user', operates: null, uid: 8 })
  await add('kept')
  await add('of bob', 50, others.id)
  await db.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
     INSERT INTO api_tokens (user_id, name, hash, role, targets, created_at, expires_at)
     SELECT ?, 'short', 'short ' || i, 'viewer', '"all"', ?, ? FROM n`,
    [alice.id, NOW, NOW],
  )

  await add('new')

  const hashes = await db.query(z.object({ hash: z.string() }), 'SELECT hash FROM api_tokens ORDER BY id')
  expect(hashes.map(({ hash }) => hash)).toEqual([
    ...['kept', 'of bob'],
    ...Array.from({ length: 100 }, (_, at) => `short ${at + 51}`),
    'new',
  ])
})

import { expect, test } from 'vitest'
import type { Database } from '../../db/libsql/database.ts'
import {
  addSigningKey,
  findSigningKey,
  readSigningKeys,
  revokeOtherSigningKeys,
  type SigningKeyRow,
} from '../../db/signing-keys.ts'
import { NOW, openMigrated } from './database.ts'

const key = (kid: string, created_at = NOW): SigningKeyRow => ({
  kid,
  public_jwk: `{"kid":"${kid}"}`,
  private_sealed: `sealed ${kid}`,
  origin: 'made',
  created_at,
})

async function keys(...rows: SigningKeyRow[]): Promise<Database> {
  const db = await openMigrated()
  for (const row of rows) await addSigningKey(db, row)
  return db
}

test('a key is read as it was stored, only by its exact id', async () => {
  const db = await keys(key('one'), key('two'))

  expect(await findSigningKey(db, 'two')).toEqual(key('two'))
  for (const other of ['', 'TWO', 'tw', '%', 'three']) expect(await findSigningKey(db, other)).toBeUndefined()
})

test('the last added key comes first, whatever the clocks say', async () => {
  const db = await keys(
    key('c', '2026-03-01T12:00:00.000Z'),
    key('b', '2026-03-01T12:00:00.001Z'),
    key('d', '2025-03-01T12:00:00.000Z'),
    key('a', '2026-03-01T12:00:00.000Z'),
  )

  expect((await readSigningKeys(db)).map(({ kid }) => kid)).toEqual(['a', 'd', 'b', 'c'])
})

test('an existing key stays unchanged', async () => {
  const db = await keys(key('one'))

  await addSigningKey(db, { ...key('one', '2027-01-01T00:00:00.000Z'), private_sealed: 'other' })

  expect(await readSigningKeys(db)).toEqual([key('one')])
})

test('all keys but one are revoked once, are not found, and cannot be added again', async () => {
  const db = await keys(key('one'), key('two'), key('three'))

  expect(await db.batch([revokeOtherSigningKeys('two', NOW)])).toEqual([2])
  expect(await db.batch([revokeOtherSigningKeys('two', NOW)])).toEqual([0])
  await addSigningKey(db, key('one'))

  expect(await readSigningKeys(db)).toEqual([key('two')])
  expect(await findSigningKey(db, 'one')).toBeUndefined()
})

test('an empty table has no keys', async () => {
  const db = await keys()

  expect(await readSigningKeys(db)).toEqual([])
  expect(await db.batch([revokeOtherSigningKeys('one', NOW)])).toEqual([0])
})

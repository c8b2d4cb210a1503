import * as z from 'zod'
import type { Database } from './client.ts'

const Row = z.object({ kid: z.string(), public_jwk: z.string(), private_sealed: z.string() })
export type SigningKeyRow = z.infer<typeof Row>

/** Every signing key, the newest first. */
export function readSigningKeys(db: Database): Promise<SigningKeyRow[]> {
  return db.query(Row, 'SELECT kid, public_jwk, private_sealed FROM signing_keys ORDER BY created_at DESC, kid')
}

export async function addSigningKey(db: Database, key: SigningKeyRow, now: string): Promise<void> {
  await db.run('INSERT OR IGNORE INTO signing_keys (kid, public_jwk, private_sealed, created_at) VALUES (?, ?, ?, ?)', [
    key.kid,
    key.public_jwk,
    key.private_sealed,
    now,
  ])
}

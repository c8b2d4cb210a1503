import * as z from 'zod'
import type { Database, Statement } from '../libsql/database.ts'
import { storedText } from '../libsql/text.ts'
import { MUST_CHANGE } from './claims.ts'

const Transports = z.string().transform((text) => z.array(z.string()).parse(JSON.parse(text)))

const Passkey = z.object({
  id: z.number(),
  user_id: z.number(),
  credential_id: z.string(),
  public_key: z.string(),
  counter: z.number(),
  transports: Transports,
})
/** A passkey as stored. The public key is in the COSE form of the authenticator, base64url like the credential's id. */
export type Passkey = z.infer<typeof Passkey>

export type NewPasskey = Omit<Passkey, 'id'> & { name: string; rp_id: string }

const PASSKEY = 'SELECT id, user_id, credential_id, public_key, counter, transports FROM factors'

/** The user's passkeys that browsers offer for this relying party, the oldest first. */
export function listPasskeys(db: Database, userId: number, rpId: string): Promise<Passkey[]> {
  return db.query(Passkey, `${PASSKEY} WHERE user_id = ? AND kind = 'passkey' AND rp_id = ? ORDER BY id`, [
    userId,
    rpId,
  ])
}

export async function findPasskey(db: Database, credentialId: string): Promise<Passkey | undefined> {
  const [passkey] = await db.query(Passkey, `${PASSKEY} WHERE credential_id = ?`, [credentialId])
  return passkey
}

/**
 * Makes the statements that store a passkey. The transaction is rolled back when the credential is stored already, or the
 * user has `most` factors.
 */
export function addingPasskey(passkey: NewPasskey, most: number, now: string): Statement[] {
  const { user_id, name, credential_id, public_key, rp_id, counter, transports } = passkey
  return [
    {
      sql: `INSERT INTO factors (user_id, kind, name, credential_id, public_key, rp_id, counter, transports, created_at)
            SELECT ?1, 'passkey', ?2, ?3, ?4, ?5, ?6, ?7, ?8
            WHERE (SELECT count(*) FROM factors WHERE user_id = ?1) < ?9
            ON CONFLICT (credential_id) DO NOTHING`,
      args: [
        user_id,
        storedText(name),
        credential_id,
        public_key,
        rp_id,
        counter,
        JSON.stringify(transports),
        now,
        most,
      ],
    },
    MUST_CHANGE,
  ]
}

/**
 * Makes the statements that store a use of a passkey. The transaction is rolled back unless its counter grows. A counter
 * that stays 0 belongs to an authenticator that has none.
 */
export function usingPasskey(id: number, counter: number, now: string): Statement[] {
  return [
    {
      sql: `UPDATE factors SET counter = ?1, last_used_at = ?2
            WHERE id = ?3 AND kind = 'passkey' AND (counter < ?1 OR (counter = 0 AND ?1 = 0))`,
      args: [counter, now, id],
    },
    MUST_CHANGE,
  ]
}

/**
 * Makes the statements that store what the host told of an account whose person the console vouches for, in the place of
 * the account's own connection. Its rights are asked at the sign-in.
 */
export function enrolledAtConsole({
  id,
  uid,
  shadow_counts,
}: {
  id: number
  uid: number
  shadow_counts: boolean
}): Statement[] {
  return [
    {
      sql: `UPDATE users SET uid = ?1, kept_out = 0, own_word = 'administrator', shadow_counts = ?2
            WHERE id = ?3 AND (uid IS NULL OR uid = ?1) AND barred_at IS NULL`,
      args: [uid, Number(shadow_counts), id],
    },
    MUST_CHANGE,
  ]
}

/** Creates the user of an account that has never signed in. It has no rights until the host tells them. */
export async function addUnknownUser(db: Database, username: string, now: string): Promise<void> {
  await db.run(
    `INSERT INTO users (username, is_admin, created_at, own_word, operates) VALUES (?, 0, ?, 'silent', NULL)
     ON CONFLICT (username) DO NOTHING`,
    [username, now],
  )
}

/** Makes the statement that forgets which account of the host has this name, for the next one that says so. */
export function forgettingUid(id: number): Statement {
  return { sql: 'UPDATE users SET uid = NULL, rights_at = NULL WHERE id = ?', args: [id] }
}

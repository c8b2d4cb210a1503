import * as z from 'zod'
import type { Database, Statement } from './libsql/database.ts'

/** The service itself, a row with an empty name: it owns the jobs that start by themselves, and nobody signs in as it. */
export const AUTOMATIC_USER = 0
const PEOPLE = `id <> ${AUTOMATIC_USER}`

export const Profile = z.object({
  id: z.number(),
  username: z.string(),
  is_admin: z.number().transform(Boolean),
  lang: z.string(),
  theme: z.string(),
  sidebar_position: z.string(),
  last_login_at: z.string().nullable(),
})
export type Profile = z.infer<typeof Profile>

const PROFILE = `SELECT id, username, is_admin, lang, theme, sidebar_position, last_login_at FROM users WHERE ${PEOPLE}`

const Preferences = Profile.omit({ id: true, username: true, is_admin: true })
export type Preferences = z.infer<typeof Preferences>

/** All targets, or a list of their ids, as JSON. */
export const StoredTargets = z
  .string()
  .transform((text) => z.union([z.literal('all'), z.array(z.string())]).parse(JSON.parse(text)))

/** The facts about a user's account on the host, as far as they are known. */
export const HostAccount = z.object({
  id: z.number(),
  username: z.string(),
  is_admin: z.number().transform(Boolean),
  /** The targets that the account works on, null for one that only reads. */
  operates: StoredTargets.nullable(),
  /** When the host last confirmed these rights; null when it has not, or has refused the account since. */
  rights_at: z.string().nullable(),
  /** When an administrator barred the account from the panel. */
  barred_at: z.string().nullable(),
  /** Another uid under the same name is another account. Null until the host has reported one. */
  uid: z.number().nullable(),
  /** The host accepts the password only: the account has no shell, or must change its password. */
  kept_out: z.number().transform(Boolean),
  /** The answer of the account's own connection at the last login. It can be forged, so it only removes rights. */
  own_word: z.enum(['administrator', 'user', 'silent', 'refused']),
  /** False when the host accepts the account against its entry in /etc/shadow, so LDAP or Kerberos decides. */
  shadow_counts: z.number().transform(Boolean),
})
export type HostAccount = z.infer<typeof HostAccount>

/** The beginning of a query for accounts, with a condition that excludes the service itself. */
export const HOST_ACCOUNT = `SELECT id, username, is_admin, operates, rights_at, barred_at, uid, kept_out, own_word, shadow_counts FROM users WHERE ${PEOPLE}`

/** The facts that a login reports of an account. Omitted ones keep their stored value. */
export type AccountFacts = Pick<HostAccount, 'kept_out' | 'own_word'> &
  Partial<Pick<HostAccount, 'uid' | 'shadow_counts' | 'operates'>>

/**
 * Creates the user, or overwrites the administrator flag and the facts of its account. Preferences stay unchanged. The
 * rights count as confirmed by the host when it has told the uid.
 */
export async function saveUser(
  db: Database,
  username: string,
  isAdmin: boolean,
  now: string,
  { uid = null, kept_out, own_word, shadow_counts, operates = 'all' }: AccountFacts = {
    kept_out: false,
    own_word: isAdmin ? 'administrator' : 'user',
  },
): Promise<Profile> {
  const counts = shadow_counts === undefined ? null : Number(shadow_counts)
  await db.run(
    `INSERT INTO users (username, is_admin, created_at, uid, kept_out, own_word, shadow_counts, operates, rights_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, coalesce(?7, 1), ?8, iif(?4 IS NULL, NULL, ?3))
     ON CONFLICT (username) DO UPDATE SET is_admin = ?2, operates = ?8, uid = coalesce(?4, uid), kept_out = ?5, own_word = ?6,
       shadow_counts = coalesce(?7, shadow_counts), rights_at = iif(?4 IS NULL, rights_at, ?3)`,
    [username, Number(isAdmin), now, uid, Number(kept_out), own_word, counts, operates && JSON.stringify(operates)],
  )
  const user = await findUserByName(db, username)
  if (!user) throw new Error(`user ${username} vanished while it was being saved`)
  return user
}

export async function findUserByName(db: Database, username: string): Promise<Profile | undefined> {
  const [user] = await db.query(Profile, `${PROFILE} AND username = ?`, [username])
  return user
}

export async function findUser(db: Database, id: number): Promise<Profile | undefined> {
  const [user] = await db.query(Profile, `${PROFILE} AND id = ?`, [id])
  return user
}

export async function findHostAccount(db: Database, id: number): Promise<HostAccount | undefined> {
  const [account] = await db.query(HostAccount, `${HOST_ACCOUNT} AND id = ?`, [id])
  return account
}

export async function findHostAccountByName(db: Database, username: string): Promise<HostAccount | undefined> {
  const [account] = await db.query(HostAccount, `${HOST_ACCOUNT} AND username = ?`, [username])
  return account
}

/**
 * Returns true if a sign-in by this name would go around the second factors or the bar of another user: one whose name
 * differs from it, or from the one that the account gives itself, only in case or domain (`BOB`, `bob@example.org`,
 * `EXAMPLE\bob`). A name that the host has told to be an account is no other spelling, and one with a second factor of its own
 * goes around none.
 */
export async function isOtherSpelling(db: Database, username: string, own = username): Promise<boolean> {
  const sql = `SELECT username, uid, barred_at, EXISTS (SELECT 1 FROM factors WHERE user_id = users.id) AS has_factor
               FROM users WHERE ${PEOPLE}`
  const known = await db.query(Spelling, sql)
  const same = known.find((user) => user.username === username)
  if (same && same.uid !== null) return false
  const bare = [withoutDomain(username), withoutDomain(own)]
  return known.some(
    (other) =>
      other !== same &&
      bare.includes(withoutDomain(other.username)) &&
      (other.barred_at !== null || (other.has_factor && !same?.has_factor)),
  )
}

const Spelling = z.object({
  username: z.string(),
  uid: z.number().nullable(),
  barred_at: z.string().nullable(),
  has_factor: z.number().transform(Boolean),
})

function withoutDomain(name: string): string {
  return name.replace(/^.*\\/, '').replace(/@.*$/, '').toLowerCase()
}

/** Stores the rights that the host reports now. Writes the audit entry only if they change. */
export async function changeRights(
  db: Database,
  {
    id,
    is_admin,
    operates,
    kept_out,
    uid,
    rights_at,
  }: Pick<HostAccount, 'id' | 'is_admin' | 'operates' | 'kept_out' | 'uid' | 'rights_at'>,
  audit: Statement,
): Promise<void> {
  const targets = operates && JSON.stringify(operates)
  await db.batch([
    {
      sql: `${audit.sql} WHERE EXISTS (SELECT 1 FROM users WHERE id = ? AND (is_admin <> ? OR operates IS NOT ?))`,
      args: [...(audit.args ?? []), id, Number(is_admin), targets],
    },
    {
      sql: `UPDATE users SET is_admin = ?, operates = ?, kept_out = ?, uid = coalesce(uid, ?), rights_at = ? WHERE id = ?`,
      args: [Number(is_admin), targets, Number(kept_out), uid, rights_at, id],
    },
  ])
}

/** Stores that the host confirms the stored rights, or, with null, that it must be asked before they count. */
export async function confirmRights(db: Database, id: number, at: string | null): Promise<void> {
  await db.run('UPDATE users SET rights_at = ? WHERE id = ?', [at, id])
}

/** The columns that `me` needs beyond the token, and no others, because every page asks for them. */
export async function findPreferences(db: Database, id: number): Promise<Preferences | undefined> {
  const sql = 'SELECT lang, theme, sidebar_position, last_login_at FROM users WHERE id = ?'
  const [preferences] = await db.query(Preferences, sql, [id])
  return preferences
}

const Chosen = Preferences.omit({ last_login_at: true }).extend({ chosen: z.number().transform(Boolean) })

/** The three preferences, and `chosen`: false while all of them are defaults that were never set. */
export async function findChosenPreferences(db: Database, id: number): Promise<z.infer<typeof Chosen> | undefined> {
  const sql = 'SELECT lang, theme, sidebar_position, preferences_chosen AS chosen FROM users WHERE id = ?'
  const [preferences] = await db.query(Chosen, sql, [id])
  return preferences
}

/** Sets one preference; false when there is no such user. */
export async function savePreference(
  db: Database,
  id: number,
  name: 'lang' | 'theme' | 'sidebar_position',
  value: string,
): Promise<boolean> {
  return (await db.run(`UPDATE users SET ${name} = ?, preferences_chosen = 1 WHERE id = ?`, [value, id])) > 0
}

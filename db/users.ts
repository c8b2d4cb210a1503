import * as z from 'zod'
import type { Database } from './client.ts'

export const Profile = z.object({
  id: z.number(),
  username: z.string(),
  is_admin: z.number().transform(Boolean),
  lang: z.string(),
  theme: z.string(),
  sidebar_position: z.string(),
  /** Whether somebody has set any of the three; else they are the defaults. */
  preferences_chosen: z.number().transform(Boolean),
  last_login_at: z.string().nullable(),
})
export type Profile = z.infer<typeof Profile>

const PROFILE =
  'SELECT id, username, is_admin, lang, theme, sidebar_position, preferences_chosen, last_login_at FROM users'

const Preferences = Profile.omit({ id: true, username: true, is_admin: true })
export type Preferences = z.infer<typeof Preferences>

/** Creates the user or overwrites its administrator flag; preferences stay as they are. */
export async function saveUser(db: Database, username: string, isAdmin: boolean, now: string): Promise<Profile> {
  await db.run(
    `INSERT INTO users (username, is_admin, created_at) VALUES (?, ?, ?)
     ON CONFLICT (username) DO UPDATE SET is_admin = excluded.is_admin`,
    [username, isAdmin ? 1 : 0, now],
  )
  const user = await findUserByName(db, username)
  if (!user) throw new Error(`user ${username} vanished while it was being saved`)
  return user
}

export async function findUserByName(db: Database, username: string): Promise<Profile | undefined> {
  const [user] = await db.query(Profile, `${PROFILE} WHERE username = ?`, [username])
  return user
}

export async function findUser(db: Database, id: number): Promise<Profile | undefined> {
  const [user] = await db.query(Profile, `${PROFILE} WHERE id = ?`, [id])
  return user
}

/** What `me` needs beyond the token: asked at every page, so no column more than that. */
export async function findPreferences(db: Database, id: number): Promise<Preferences | undefined> {
  const sql = 'SELECT lang, theme, sidebar_position, preferences_chosen, last_login_at FROM users WHERE id = ?'
  const [preferences] = await db.query(Preferences, sql, [id])
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

const Listed = Profile.pick({ username: true, is_admin: true, last_login_at: true }).extend({ sessions: z.number() })
export type ListedUser = z.infer<typeof Listed>

/** Every user by name, with how many unexpired sessions there are. */
export function listUsers(db: Database, now: string): Promise<ListedUser[]> {
  const sql = `SELECT username, is_admin, last_login_at,
                 (SELECT count(*) FROM sessions WHERE user_id = users.id AND julianday(expires_at) > julianday(?)) AS sessions
               FROM users ORDER BY username`
  return db.query(Listed, sql, [now])
}

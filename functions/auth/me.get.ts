import * as z from 'zod'
import { findPreferences } from '../../db/users.ts'
import { defineFunction, READS } from '../../runtime/function.ts'

/** Who is signed in: what the token says, with the stored preferences. */
export default defineFunction({
  method: 'GET',
  path: '/api/auth/me',
  auth: 'user',
  rateLimit: READS,
  response: z.object({
    id: z.number(),
    username: z.string(),
    is_admin: z.boolean(),
    lang: z.string(),
    theme: z.string(),
    sidebar_position: z.string(),
    last_login_at: z.string().optional(),
  }),
  errors: ['profile_missing'],

  async handler(_, { db, user: { id, username, isAdmin }, fail }) {
    const profile = await findPreferences(db, id)
    if (!profile) throw fail('profile_missing')
    const { lang, theme, sidebar_position, last_login_at } = profile
    return {
      id,
      username,
      is_admin: isAdmin,
      lang,
      theme,
      sidebar_position,
      ...(last_login_at !== null && { last_login_at }),
    }
  },
})

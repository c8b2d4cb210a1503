import * as z from 'zod'
import { findPreferences } from '../../db/users.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/me',
  summary: 'The signed-in user',
  description: 'Returns the user of the token, with the stored preferences.',
  auth: 'user',
  rateLimit: READS,
  response: z.object({
    id: z.int(),
    username: z.string(),
    is_admin: z.boolean(),
    lang: z.string(),
    theme: z.string(),
    sidebar_position: z.string(),
    last_login_at: z.string().optional(),
  }),
  example: {
    response: {
      id: 1,
      username: 'alice',
      is_admin: true,
      lang: 'fr',
      theme: 'dark',
      sidebar_position: 'left',
      last_login_at: '2026-03-01T12:00:00.000Z',
    },
  },
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

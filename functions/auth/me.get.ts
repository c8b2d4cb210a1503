import * as z from 'zod'
import { findPreferences } from '../../db/users.ts'
import { ROLES } from '../../runtime/context.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/me',
  summary: 'The signed-in user',
  description: 'Returns the user of the token, with the stored preferences.',
  auth: 'user',
  whileEnrolling: true,
  targets: 'none',
  rateLimit: READS,
  response: z.object({
    id: z.int(),
    username: z.string(),
    is_admin: z.boolean(),
    role: z.enum(ROLES),
    operates: z
      .array(z.string())
      .optional()
      .meta({ description: 'The targets that an operator may work on, where these are not all.' }),
    must_enrol: z.literal(true).optional().meta({ description: 'Whether the caller must first add a second factor.' }),
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
      role: 'admin',
      lang: 'fr',
      theme: 'dark',
      sidebar_position: 'left',
      last_login_at: '2026-03-01T12:00:00.000Z',
    },
  },
  errors: ['profile_missing'],

  async handler(_, { db, user: { id, username, role, operates, enrolling }, fail }) {
    const profile = await findPreferences(db, id)
    if (!profile) throw fail('profile_missing')
    const { lang, theme, sidebar_position, last_login_at } = profile
    return {
      id,
      username,
      is_admin: role === 'admin',
      role,
      lang,
      theme,
      sidebar_position,
      ...(role === 'operator' && operates !== 'all' && { operates: [...operates] }),
      ...(enrolling && { must_enrol: enrolling }),
      ...(last_login_at !== null && { last_login_at }),
    }
  },
})

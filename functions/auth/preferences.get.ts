import * as z from 'zod'
import { findChosenPreferences } from '../../db/users.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/preferences',
  summary: 'The caller’s preferences',
  description:
    'Also says whether any preference was ever set. Until then all are defaults, and a frontend may set those that the browser prefers.',
  auth: 'user',
  credential: 'session',
  whileEnrolling: true,
  targets: 'none',
  rateLimit: READS,
  response: z.object({ lang: z.string(), theme: z.string(), sidebar_position: z.string(), chosen: z.boolean() }),
  example: {
    response: { lang: 'fr', theme: 'dark', sidebar_position: 'left', chosen: false },
  },
  errors: ['profile_missing'],

  async handler(_, { db, user, fail }) {
    const preferences = await findChosenPreferences(db, user.id)
    if (!preferences) throw fail('profile_missing')
    return preferences
  },
})

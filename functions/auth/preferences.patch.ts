import * as z from 'zod'
import { savePreference } from '../../db/users.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'

/** Preferences are checked and applied in this order. */
const PREFERENCES = [
  ['lang', ['fr', 'en']],
  ['theme', ['dark', 'light']],
  ['sidebar_position', ['left', 'right']],
] as const

/** Accepts any values: the handler reports the first wrong one, after it has applied the preferences before it. */
const AnyPreferences = z
  .looseObject({ lang: z.unknown(), theme: z.unknown(), sidebar_position: z.unknown() })
  .partial()
  .meta({
    override: {
      properties: Object.fromEntries(
        PREFERENCES.map(([name, values]) => [name, { type: 'string', enum: [...values] }]),
      ),
    },
  })

export default defineFunction({
  method: 'PATCH',
  path: '/api/auth/preferences',
  summary: 'Change preferences',
  description: 'Changes the caller’s preferences one after the other. Those before an invalid one stay changed.',
  auth: 'user',
  credential: 'session',
  whileEnrolling: true,
  targets: 'none',
  rateLimit: WRITES,
  audit: false,
  request: { body: AnyPreferences },
  response: z.object({ message: z.string() }),
  example: {
    body: { theme: 'light' },
    response: { message: 'Préférences enregistrées.' },
  },
  errors: ['preference_invalid', 'profile_missing'],

  async handler({ body }, { db, user, fail }) {
    for (const [name, allowed] of PREFERENCES) {
      const wanted = body[name]
      if (wanted === undefined) continue
      const value = allowed.find((each) => each === wanted)
      if (value === undefined) {
        const details = [{ field: name, message: `valeurs possibles : ${allowed.join(', ')}` }]
        throw fail('preference_invalid', { values: { field: name }, details })
      }
      if (!(await savePreference(db, user.id, name, value))) throw fail('profile_missing')
    }
    return { message: 'Préférences enregistrées.' }
  },
})

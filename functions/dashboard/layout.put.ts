import * as z from 'zod'
import { saveLayout } from '../../db/dashboard-layouts.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { DEFAULT_LAYOUT, GivenLayout } from './layout.ts'

/** Most bytes of a layout as JSON text. */
const MAX_LAYOUT = 64 * 1024

export default defineFunction({
  method: 'PUT',
  path: '/api/dashboard/layout',
  summary: 'Store the caller’s dashboard',
  description: 'Stores any JSON object of at most 64 KiB and 32 levels.',
  auth: 'user',
  credential: 'session',
  targets: 'none',
  rateLimit: WRITES,
  audit: false,
  request: { body: GivenLayout },
  response: z.object({ message: z.string() }),
  example: {
    body: DEFAULT_LAYOUT,
    response: { message: 'Tableau de bord enregistré.' },
  },
  errors: ['profile_missing', 'body_too_large'],

  async handler({ body }, { db, user, clock, fail }) {
    const text = JSON.stringify(body)
    if (Buffer.byteLength(text) > MAX_LAYOUT) throw fail('body_too_large', { values: { limit: '64 Kio' } })
    if (!(await saveLayout(db, user.id, text, timestamp(clock())))) throw fail('profile_missing')
    return { message: 'Tableau de bord enregistré.' }
  },
})

import * as z from 'zod'
import { readLayout } from '../../db/dashboard-layouts.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { DEFAULT_LAYOUT, Layout } from './layout.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/dashboard/layout',
  summary: 'The caller’s dashboard',
  description: 'Returns the stored layout, or the default.',
  auth: 'user',
  credential: 'session',
  targets: 'none',
  rateLimit: READS,
  response: Layout,
  example: {
    response: DEFAULT_LAYOUT,
  },

  async handler(_, { db, user }) {
    const stored = await readLayout(db, user.id)
    return stored === undefined ? DEFAULT_LAYOUT : z.record(z.string(), z.unknown()).parse(JSON.parse(stored))
  },
})

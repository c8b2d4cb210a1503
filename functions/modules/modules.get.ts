import * as z from 'zod'
import { listModules } from '../../db/modules.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { Module, moduleView } from './module.ts'

/** Every module, the panel's own first, then by their place in the menu. */
export default defineFunction({
  method: 'GET',
  path: '/api/modules',
  auth: 'user',
  rateLimit: READS,
  response: z.array(Module),

  async handler(_, { db, boot }) {
    return (await listModules(db)).map((row) => moduleView(row, boot.version))
  },
})

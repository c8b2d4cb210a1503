import * as z from 'zod'
import { listModules } from '../../db/modules.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { EXAMPLE_MODULE, Module, moduleView } from './module.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/modules',
  summary: 'Modules',
  description: 'Lists every module: the panel’s own first, then the others by their place in the menu.',
  auth: 'user',
  targets: 'none',
  rateLimit: READS,
  response: z.array(Module),
  example: {
    response: [EXAMPLE_MODULE],
  },

  async handler(_, { db, boot, user }) {
    const shown = (await listModules(db)).map((row) => moduleView(row, boot.version))
    // The reason quotes an error of the module's code.
    return user.role === 'admin' ? shown : shown.map((module) => ({ ...module, fault: null }))
  },
})

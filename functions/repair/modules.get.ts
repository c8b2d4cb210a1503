import * as z from 'zod'
import { listModules } from '../../db/modules.ts'
import { READS } from '../../runtime/function.ts'
import { EXAMPLE_MODULE, Module, moduleView } from '../modules/module.ts'
import { namesOnForge, readRegistry } from '../registry/registry.ts'
import { defineFunction } from '../services.ts'

const NOT_ASKED = { registry: undefined, error: null }
const NOT_LOADED = { problem: 'load_failed', detail: 'Son code n’est pas chargé : redémarrez le service.' } as const
const GONE = { problem: 'not_in_registry', detail: 'Son dépôt n’est plus sur la forge.' } as const

export default defineFunction({
  method: 'GET',
  path: '/api/repair/modules',
  summary: 'The problems of modules',
  description:
    'Lists the modules that are not the panel’s own, each with its problem. It does not wait for the forge: `not_in_registry` is by the last list.',
  auth: 'admin',
  rateLimit: READS,
  response: z.array(
    Module.extend({
      problem: z.enum(['files_missing', 'load_failed', 'not_in_registry']).nullable(),
      detail: z.string().nullable(),
    }),
  ),
  example: {
    response: [{ ...EXAMPLE_MODULE, problem: 'not_in_registry', detail: GONE.detail }],
  },

  async handler(_, context) {
    const { db, boot, modules } = context
    const rows = (await listModules(db)).filter(({ is_core }) => is_core === 0)
    // Only a forge that was read can show that a module is missing.
    const { registry, error } = rows.length > 0 ? await readRegistry(context, {}) : NOT_ASKED
    const there = error === null && registry ? namesOnForge(registry) : undefined
    return rows.map((row) => {
      const unloaded = row.is_enabled && row.backend !== null && !modules.isLoaded(row)
      const broken = unloaded ? (modules.problem(row.id) ?? NOT_LOADED) : undefined
      const gone = row.repository !== null && there !== undefined && !there.has(row.id)
      const problem = broken ?? (gone ? GONE : { problem: null, detail: null })
      return { ...moduleView(row, boot.version), ...problem }
    })
  },
})

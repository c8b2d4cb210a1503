import * as z from 'zod'
import { listModules } from '../../db/modules.ts'
import { READS } from '../../runtime/function.ts'
import { ModuleId } from '../modules/module.ts'
import { defineFunction } from '../services.ts'
import { readRegistry } from './registry.ts'

const Offered = z.object({
  id: ModuleId,
  name: z.string(),
  description: z.string(),
  version: z.string(),
  has_backend: z.boolean(),
  repository: z.string(),
  commit: z.string(),
  updated_at: z.string(),
  installed: z.boolean(),
  installed_version: z.string().nullable(),
  is_enabled: z.boolean(),
})

export default defineFunction({
  method: 'GET',
  path: '/api/registry/modules',
  summary: 'Modules on the forge',
  description:
    'Lists the modules that the forge offers. If the forge cannot be read, `error` says why, and the answer has the previous list. `refresh=1` reads the forge again.',
  auth: 'admin',
  rateLimit: READS,
  request: { query: z.object({ refresh: z.string().optional() }) },
  response: z.object({ modules: z.array(Offered), error: z.string().nullable() }),
  example: {
    query: { refresh: '1' },
    response: {
      modules: [
        {
          id: 'hello',
          name: 'Bonjour',
          description: 'Salue qui est connecté.',
          version: '1.2.0',
          has_backend: true,
          repository: 'https://forge.example/modules/hello',
          commit: '4ffe5611f0a1d0c8a25c51a2a1f4f2f7a3f0a111',
          updated_at: '2026-03-01T12:00:00.000Z',
          installed: false,
          installed_version: null,
          is_enabled: false,
        },
      ],
      error: null,
    },
  },

  async handler({ query: { refresh } }, context) {
    const { registry, error } = await readRegistry(context, { refresh: refresh === '1' })
    const installed = new Map((await listModules(context.db)).map((row) => [row.id, row]))
    const modules = (registry?.modules ?? []).map(({ repository, commit, descriptor }) => {
      const row = installed.get(descriptor.id)
      return {
        id: descriptor.id,
        name: descriptor.name,
        description: descriptor.description ?? repository.description,
        version: descriptor.version,
        has_backend: descriptor.has_backend ?? false,
        repository: repository.htmlUrl,
        commit,
        updated_at: repository.updatedAt,
        installed: row !== undefined,
        installed_version: row?.version ?? null,
        is_enabled: row?.is_enabled === 1,
      }
    })
    return { modules, error }
  },
})

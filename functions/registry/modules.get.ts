import * as z from 'zod'
import { listModules } from '../../db/modules.ts'
import { timestamp } from '../../platform/clock.ts'
import { READS } from '../../runtime/function.ts'
import { ModuleId } from '../modules/module.ts'
import { defineFunction } from '../services.ts'
import { groupsOf, LEFT_OUT } from './left-out.ts'
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
  is_fork: z.boolean(),
  is_mirror: z.boolean(),
  is_private: z.boolean(),
  origin: z.string(),
  installed: z.boolean(),
  installed_version: z.string().nullable(),
  is_enabled: z.boolean(),
})

const LeftOut = z.object({
  code: z.enum(Object.keys(LEFT_OUT)),
  reason: z.string(),
  count: z.int(),
  repositories: z.array(z.object({ name: z.string(), detail: z.string().nullable() })),
})

export default defineFunction({
  method: 'GET',
  path: '/api/registry/modules',
  summary: 'Modules on the forge',
  description:
    'Lists the modules that the forge offers, as last read; a list older than a minute is read again in the background. `refresh=1` reads the forge now and waits for 10 s at most. If the forge cannot be read, `error` says why, and the answer has the previous list. While the forge is being read, `reading` is true and `progress` counts the repositories. `left` groups the repositories that are not offered by the reason.',
  auth: 'admin',
  rateLimit: READS,
  request: { query: z.object({ refresh: z.string().optional() }) },
  response: z.object({
    modules: z.array(Offered),
    error: z.string().nullable(),
    left: z.array(LeftOut),
    reading: z.boolean(),
    progress: z.object({ repositories: z.int(), read: z.int(), is_listed: z.boolean() }).nullable(),
    read_at: z.string().nullable(),
  }),
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
          is_fork: false,
          is_mirror: false,
          is_private: false,
          origin: '',
          installed: false,
          installed_version: null,
          is_enabled: false,
        },
      ],
      error: null,
      left: [
        {
          code: 'archived',
          reason: LEFT_OUT.archived,
          count: 1,
          repositories: [{ name: 'former', detail: null }],
        },
      ],
      reading: false,
      progress: null,
      read_at: '2026-03-02T08:00:00.000Z',
    },
  },

  async handler({ query: { refresh } }, context) {
    const known = await readRegistry(context, { refresh: refresh === '1', patient: true })
    const { registry, readAt, error, reading } = known
    const installed = new Map((await listModules(context.db)).map((row) => [row.id, row]))
    const modules = (registry?.modules ?? reading?.modules ?? []).map(({ repository, commit, descriptor }) => {
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
        is_fork: repository.isFork,
        is_mirror: repository.isMirror,
        is_private: repository.isPrivate,
        origin: repository.origin,
        installed: row !== undefined,
        installed_version: row?.version ?? null,
        is_enabled: row?.is_enabled === 1,
      }
    })
    return {
      modules,
      error,
      left: groupsOf(registry?.left ?? []),
      reading: reading !== undefined,
      progress: reading ? { repositories: reading.candidates, read: reading.read, is_listed: reading.isListed } : null,
      read_at: readAt ? timestamp(readAt) : null,
    }
  },
})

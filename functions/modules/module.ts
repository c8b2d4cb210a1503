import * as z from 'zod'
import { ModuleRow, PreviousRelease, previousOf } from '../../db/modules.ts'

/** The id of a module. The database decides whether the module exists. */
export const ModuleId = z.string().meta({
  id: 'ModuleId',
  description: 'The id of a module.',
  examples: ['hello'],
  override: { pattern: '^[a-z][a-z0-9-]{0,62}$' },
})

/** A module as clients see it. */
export const Module = ModuleRow.omit({ backend: true, files: true, previous: true })
  .extend({
    id: ModuleId,
    tag: z.string().nullable(),
    fault: z.string().nullable(),
    fault_at: z.string().nullable(),
    has_backend: z.boolean(),
    previous: PreviousRelease.nullable(),
  })
  .meta({ id: 'Module', description: 'An installed module, or one of the panel’s own.' })

/** The example of the documents. */
export const EXAMPLE_MODULE: z.infer<typeof Module> = {
  id: 'hello',
  name: 'Bonjour',
  description: 'Salue qui est connecté.',
  version: '1.2.0',
  is_core: 0,
  is_enabled: 1,
  has_backend: true,
  nav_label: 'Bonjour',
  nav_icon: null,
  nav_href: '/modules/hello',
  nav_order: 10,
  repository: 'https://forge.example/modules/hello',
  commit: '4ffe5611f0a1d0c8a25c51a2a1f4f2f7a3f0a111',
  tag: 'v1.2.0',
  previous: { version: '1.1.0', commit: '9f1c2a5e6b7d8c9a0b1c2d3e4f5a6b7c8d9e0f10', tag: 'v1.1.0' },
  fault: null,
  fault_at: null,
  installed_at: '2026-03-01T12:00:00.000Z',
  updated_at: '2026-03-01T12:00:00.000Z',
}

/** Converts a row. `version` is the service's own, which its built-in modules share. */
export function moduleView(row: ModuleRow, version: string): z.infer<typeof Module> {
  const { backend, files: _, ...shown } = row
  return {
    ...shown,
    version: row.is_core ? version : row.version,
    has_backend: backend !== null,
    previous: previousOf(row) ?? null,
  }
}

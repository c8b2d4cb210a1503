import * as z from 'zod'
import { ModuleRow } from '../../db/modules.ts'

/** Names a module. Whether there is one by a name is the database's to say. */
export const ModuleId = z.string().meta({
  id: 'ModuleId',
  description: 'Names a module.',
  examples: ['hello'],
  override: { pattern: '^[a-z][a-z0-9-]{0,62}$' },
})

/** A module as clients see it. */
export const Module = ModuleRow.omit({ backend: true }).extend({ id: ModuleId, has_backend: z.boolean() })

/** `version` is the service's own, which its own modules have too. */
export function moduleView(row: ModuleRow, version: string): z.infer<typeof Module> {
  const { backend, ...shown } = row
  return { ...shown, version: row.is_core ? version : row.version, has_backend: backend !== null }
}

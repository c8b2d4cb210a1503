import * as z from 'zod'
import type { ModuleRow } from '../../db/modules.ts'

const Flag = z.union([z.literal(0), z.literal(1)])

/** A module as clients see it. */
export const Module = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  version: z.string(),
  is_core: Flag,
  is_enabled: Flag,
  has_backend: z.boolean(),
  nav_label: z.string().nullable(),
  nav_icon: z.string().nullable(),
  nav_href: z.string().nullable(),
  nav_order: z.number(),
  repository: z.string().nullable(),
  commit: z.string().nullable(),
  installed_at: z.string(),
  updated_at: z.string(),
})

/** `version` is the service's own, which its own modules have too. */
export function moduleView(row: ModuleRow, version: string): z.infer<typeof Module> {
  const { backend, ...shown } = row
  return { ...shown, version: row.is_core ? version : row.version, has_backend: backend !== null }
}

import * as z from 'zod'
import { ModuleRow } from '../../db/modules.ts'

/** A module as clients see it. */
export const Module = ModuleRow.omit({ backend: true }).extend({ has_backend: z.boolean() })

/** `version` is the service's own, which its own modules have too. */
export function moduleView(row: ModuleRow, version: string): z.infer<typeof Module> {
  const { backend, ...shown } = row
  return { ...shown, version: row.is_core ? version : row.version, has_backend: backend !== null }
}

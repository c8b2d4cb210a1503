import * as z from 'zod'
import type { Database, Statement } from './libsql/database.ts'

/** The record of a module. `backend` is the name of its code file, null when it has none. */
export const ModuleRow = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  version: z.string(),
  is_core: z.union([z.literal(0), z.literal(1)]),
  is_enabled: z.union([z.literal(0), z.literal(1)]),
  backend: z.string().nullable(),
  nav_label: z.string().nullable(),
  nav_icon: z.string().nullable(),
  nav_href: z.string().nullable(),
  nav_order: z.number(),
  repository: z.string().nullable(),
  commit: z.string().nullable(),
  installed_at: z.string(),
  updated_at: z.string(),
})
export type ModuleRow = z.infer<typeof ModuleRow>

/** The fields that an installation records. It leaves `is_enabled` of an existing module unchanged. */
export type NewModule = Omit<ModuleRow, 'is_core' | 'is_enabled' | 'installed_at' | 'updated_at'>

const COLUMNS = `id, name, description, version, is_core, is_enabled, backend, nav_label, nav_icon, nav_href, nav_order,
  repository, "commit", installed_at, updated_at`

/** All modules, the panel's own first, then by their place in the menu. */
export function listModules(db: Database): Promise<ModuleRow[]> {
  return db.query(ModuleRow, `SELECT ${COLUMNS} FROM modules ORDER BY is_core DESC, nav_order, id`)
}

export async function findModule(db: Database, id: string): Promise<ModuleRow | undefined> {
  const [row] = await db.query(ModuleRow, `SELECT ${COLUMNS} FROM modules WHERE id = ?`, [id])
  return row
}

/** Records a new module as enabled, or updates an existing one. Changes no row of the panel's own modules. */
export function saveModule(module: NewModule, now: string): Statement {
  return {
    sql: `INSERT INTO modules (${COLUMNS}) VALUES (?1, ?2, ?3, ?4, 0, 1, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12)
          ON CONFLICT (id) DO UPDATE SET name = ?2, description = ?3, version = ?4, backend = ?5, nav_label = ?6,
            nav_icon = ?7, nav_href = ?8, nav_order = ?9, repository = ?10, "commit" = ?11, updated_at = ?12
          WHERE is_core = 0`,
    args: [
      module.id,
      module.name,
      module.description,
      module.version,
      module.backend,
      module.nav_label,
      module.nav_icon,
      module.nav_href,
      module.nav_order,
      module.repository,
      module.commit,
      now,
    ],
  }
}

/** Enables or disables a module. Changes no row of a missing module, of one in that state, or of the panel's own. */
export function enableModule(id: string, enabled: boolean, now: string): Statement {
  return {
    sql: 'UPDATE modules SET is_enabled = ?2, updated_at = ?3 WHERE id = ?1 AND is_core = 0 AND is_enabled <> ?2',
    args: [id, enabled ? 1 : 0, now],
  }
}

/** Restores a record exactly as it was. */
export function restoreModule(row: ModuleRow): Statement {
  const { commit, ...columns } = row
  const entries = Object.entries(columns)
  return {
    sql: `INSERT OR REPLACE INTO modules (${entries.map(([name]) => name).join(', ')}, "commit")
          VALUES (${'?, '.repeat(entries.length)}?)`,
    args: [...entries.map(([, value]) => value), commit],
  }
}

/** Removes a module's record. Removes none of the panel's own. */
export function removeModule(id: string): Statement {
  return { sql: 'DELETE FROM modules WHERE id = ? AND is_core = 0', args: [id] }
}

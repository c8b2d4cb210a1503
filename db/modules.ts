import * as z from 'zod'
import type { Database, Statement } from './libsql/database.ts'

/** The release of a module that its current one has replaced; `tag` is null when it was installed from a branch. */
export const PreviousRelease = z.object({ version: z.string(), commit: z.string(), tag: z.string().nullable() })
export type PreviousRelease = z.infer<typeof PreviousRelease>

/**
 * The record of a module. `backend` is the name of its code file, null when it has none; `files` are those of its page as
 * JSON, and `previous` is a `PreviousRelease` as JSON. `fault` is the French reason why the service has taken the module
 * out. Deployments store records as JSON, so fields that older ones lack have defaults.
 */
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
  tag: z.string().nullable().default(null),
  files: z.string().default('[]'),
  previous: z.string().nullable().default(null),
  fault: z.string().nullable().default(null),
  fault_at: z.string().nullable().default(null),
  installed_at: z.string(),
  updated_at: z.string(),
})
export type ModuleRow = z.infer<typeof ModuleRow>

/** The fields that an installation records. It leaves `is_enabled` of an existing module unchanged. */
export type NewModule = Omit<
  ModuleRow,
  'is_core' | 'is_enabled' | 'previous' | 'fault' | 'fault_at' | 'installed_at' | 'updated_at'
>

const COLUMNS = `id, name, description, version, is_core, is_enabled, backend, nav_label, nav_icon, nav_href, nav_order,
  repository, "commit", tag, files, previous, fault, fault_at, installed_at, updated_at`

/** All modules, the panel's own first, then by their place in the menu. */
export function listModules(db: Database): Promise<ModuleRow[]> {
  return db.query(ModuleRow, `SELECT ${COLUMNS} FROM modules ORDER BY is_core DESC, nav_order, id`)
}

export async function findModule(db: Database, id: string): Promise<ModuleRow | undefined> {
  const [row] = await db.query(ModuleRow, `SELECT ${COLUMNS} FROM modules WHERE id = ?`, [id])
  return row
}

/** Returns the paths of the files of a module's page, its document first. */
export function filesOf({ files }: Pick<ModuleRow, 'files'>): string[] {
  return z.array(z.string()).parse(JSON.parse(files))
}

/** Returns the release that the current one has replaced. */
export function previousOf({ previous }: Pick<ModuleRow, 'previous'>): PreviousRelease | undefined {
  return previous === null ? undefined : PreviousRelease.parse(JSON.parse(previous))
}

/**
 * Records a new module as enabled, or updates an existing one, whose release becomes the previous one. A fault is
 * forgotten. Changes no row of the panel's own modules.
 */
export function saveModule(module: NewModule, now: string): Statement {
  return {
    sql: `INSERT INTO modules (${COLUMNS}) VALUES (?1, ?2, ?3, ?4, 0, 1, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?13, ?14, NULL, NULL, NULL, ?12, ?12)
          ON CONFLICT (id) DO UPDATE SET name = ?2, description = ?3, version = ?4, backend = ?5, nav_label = ?6,
            nav_icon = ?7, nav_href = ?8, nav_order = ?9, repository = ?10, "commit" = ?11, tag = ?13, files = ?14,
            previous = CASE WHEN "commit" IS ?11 THEN previous WHEN "commit" IS NULL THEN NULL
              ELSE json_object('version', version, 'commit', "commit", 'tag', tag) END,
            fault = NULL, fault_at = NULL, updated_at = ?12
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
      module.tag,
      module.files,
    ],
  }
}

/**
 * Enables or disables a module, and forgets its fault. Changes no row of a missing module, of one in that state without a
 * fault, or of the panel's own.
 */
export function enableModule(id: string, enabled: boolean, now: string): Statement {
  return {
    sql: `UPDATE modules SET is_enabled = ?2, fault = NULL, fault_at = NULL, updated_at = ?3
          WHERE id = ?1 AND is_core = 0 AND (is_enabled <> ?2 OR fault IS NOT NULL)`,
    args: [id, enabled ? 1 : 0, now],
  }
}

/** Takes out a module that is still in the state of this record. `updated_at` stays: no person has changed it. */
export function takeOutModule(
  { id, updated_at }: Pick<ModuleRow, 'id' | 'updated_at'>,
  fault: string,
  at: string,
): Statement {
  return {
    sql: 'UPDATE modules SET fault = ?3, fault_at = ?4 WHERE id = ?1 AND updated_at = ?2 AND is_core = 0',
    args: [id, updated_at, fault, at],
  }
}

/** Forgets the fault that was recorded at this time, and no later one. */
export function putBackModule(id: string, at: string): Statement {
  return { sql: 'UPDATE modules SET fault = NULL, fault_at = NULL WHERE id = ? AND fault_at = ?', args: [id, at] }
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

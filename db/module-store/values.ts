import * as z from 'zod'
import type { Database, Statement } from '../libsql/database.ts'

/** A value that a module stores. Names begin with their kind (`value:`, `secret:` …); secrets are sealed. */
const Value = z.object({ name: z.string(), value: z.string() })
export type ModuleValue = z.infer<typeof Value>

/** Returns one value of a module. */
export async function moduleValue(db: Database, module: string, name: string): Promise<string | undefined> {
  const [row] = await db.query(Value, 'SELECT name, value FROM module_values WHERE module = ? AND name = ?', [
    module,
    name,
  ])
  return row?.value
}

/** Returns the values of a module whose names begin with `kind`, by name. */
export function moduleValues(db: Database, module: string, kind: string): Promise<ModuleValue[]> {
  return db.query(
    Value,
    'SELECT name, value FROM module_values WHERE module = ?1 AND substr(name, 1, length(?2)) = ?2 ORDER BY name',
    [module, kind],
  )
}

/**
 * Stores a value of an installed module, unless it is a new one and the module has `most` of this kind already. Changes
 * one row or none.
 */
export function saveModuleValue(
  { module, kind, name, value, secret }: { module: string; kind: string; name: string; value: string; secret: boolean },
  most: number,
  now: string,
): Statement {
  return {
    sql: `INSERT INTO module_values (module, name, value, is_secret, updated_at)
          SELECT ?1, ?2 || ?3, ?4, ?5, ?6
          WHERE EXISTS (SELECT 1 FROM modules WHERE id = ?1)
            AND (EXISTS (SELECT 1 FROM module_values WHERE module = ?1 AND name = ?2 || ?3)
              OR (SELECT count(*) FROM module_values WHERE module = ?1 AND substr(name, 1, length(?2)) = ?2) < ?7)
          ON CONFLICT (module, name) DO UPDATE SET value = ?4, is_secret = ?5, updated_at = ?6`,
    args: [module, kind, name, value, secret ? 1 : 0, now, most],
  }
}

/** Removes a value of a module. */
export function removeModuleValue(module: string, name: string): Statement {
  return { sql: 'DELETE FROM module_values WHERE module = ? AND name = ?', args: [module, name] }
}

/**
 * Removes values of one kind whose names are not among `names`, which former versions of the module have left: all but
 * the `most` newest.
 */
export function removeOldValues(
  { module, kind, names }: { module: string; kind: string; names: readonly string[] },
  most: number,
): Statement {
  return {
    sql: `DELETE FROM module_values WHERE module = ?1 AND name IN (
            SELECT name FROM module_values
            WHERE module = ?1 AND substr(name, 1, length(?2)) = ?2
              AND name NOT IN (SELECT ?2 || value FROM json_each(?3))
            ORDER BY updated_at DESC, name LIMIT -1 OFFSET ?4)`,
    args: [module, kind, JSON.stringify(names), most],
  }
}

/** Counts the modules with this id: 0 or 1. */
export function installedModules(module: string): Statement {
  return { sql: 'SELECT count(*) FROM modules WHERE id = ?', args: [module] }
}

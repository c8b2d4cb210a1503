import * as z from 'zod'
import type { Database } from '../libsql/database.ts'

/** One record of a module's own collection; `value` is JSON. */
const Row = z.object({ id: z.string(), value: z.string(), updated_at: z.string() })
export type ModuleRecordRow = z.infer<typeof Row>

export async function moduleRecord(
  db: Database,
  module: string,
  collection: string,
  id: string,
): Promise<ModuleRecordRow | undefined> {
  const [row] = await db.query(
    Row,
    'SELECT id, value, updated_at FROM module_records WHERE module = ? AND collection = ? AND id = ?',
    [module, collection, id],
  )
  return row
}

/** Returns records of a collection by id, or from the last id on with `newest`; those behind `after` when it is given. */
export function moduleRecords(
  db: Database,
  { module, collection }: { module: string; collection: string },
  { after, limit, newest }: { after: string | undefined; limit: number; newest: boolean },
): Promise<ModuleRecordRow[]> {
  return db.query(
    Row,
    `SELECT id, value, updated_at FROM module_records
     WHERE module = ?1 AND collection = ?2 AND (?3 IS NULL OR id ${newest ? '<' : '>'} ?3)
     ORDER BY id ${newest ? 'DESC' : 'ASC'} LIMIT ?4`,
    [module, collection, after ?? null, limit],
  )
}

/** Stores a record of an installed module; returns false when it would be new and the module has `most` already. */
export async function saveModuleRecord(
  db: Database,
  { module, collection, id, value }: { module: string; collection: string; id: string; value: string },
  most: number,
  now: string,
): Promise<boolean> {
  const changed = await db.run(
    `INSERT INTO module_records (module, collection, id, value, updated_at)
     SELECT ?1, ?2, ?3, ?4, ?5
     WHERE EXISTS (SELECT 1 FROM modules WHERE id = ?1)
       AND (EXISTS (SELECT 1 FROM module_records WHERE module = ?1 AND collection = ?2 AND id = ?3)
         OR (SELECT count(*) FROM module_records WHERE module = ?1) < ?6)
     ON CONFLICT (module, collection, id) DO UPDATE SET value = ?4, updated_at = ?5`,
    [module, collection, id, value, now, most],
  )
  return changed > 0
}

/** Removes a record; returns whether it existed. */
export async function removeModuleRecord(
  db: Database,
  module: string,
  collection: string,
  id: string,
): Promise<boolean> {
  const sql = 'DELETE FROM module_records WHERE module = ? AND collection = ? AND id = ?'
  return (await db.run(sql, [module, collection, id])) > 0
}

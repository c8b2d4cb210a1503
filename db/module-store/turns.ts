import type { Database } from '../libsql/database.ts'
import { NOW_MS } from '../job-leases.ts'

/** Names of turns among the values of a module; a module cannot read or write them. */
const TURN = 'turn:'

/**
 * Takes the turn of a module's task until `ms` from now, by the clock of the database. Returns false when the turn is
 * taken, or when the module is not enabled or was taken out.
 */
export async function takeTurn(
  db: Database,
  { module, task, owner }: { module: string; task: string; owner: string },
  ms: number,
  now: string,
): Promise<boolean> {
  const changed = await db.run(
    `INSERT INTO module_values (module, name, value, is_secret, updated_at)
     SELECT ?1, ?2, json_object('until', ${NOW_MS} + ?3, 'owner', ?4), 0, ?5
     WHERE EXISTS (SELECT 1 FROM modules WHERE id = ?1 AND is_enabled = 1 AND fault IS NULL)
     ON CONFLICT (module, name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
       WHERE json_extract(module_values.value, '$.until') <= ${NOW_MS}`,
    [module, TURN + task, ms, owner, now],
  )
  return changed > 0
}

/** Lets the next turn of a task begin `ms` from now, if `owner` still has this one. */
export async function endTurn(
  db: Database,
  { module, task, owner }: { module: string; task: string; owner: string },
  ms: number,
): Promise<void> {
  await db.run(
    `UPDATE module_values SET value = json_object('until', ${NOW_MS} + ?3, 'owner', ?4)
     WHERE module = ?1 AND name = ?2 AND json_extract(value, '$.owner') = ?4`,
    [module, TURN + task, Math.max(0, ms), owner],
  )
}

import * as z from 'zod'
import { onlyIf } from './audit.ts'
import type { Database, Statement } from './libsql/database.ts'
import { ModuleRow } from './modules.ts'

/** The steps of a deployment, in order. */
export const STEPS = ['building', 'replacing', 'restarting'] as const
/** The possible ends of a deployment. */
export const ENDS = ['done', 'failed', 'rolled_back'] as const
export type Step = (typeof STEPS)[number]
export type End = (typeof ENDS)[number]

const Row = z.object({
  id: z.string(),
  module: z.string(),
  state: z.enum([...STEPS, ...ENDS]),
  /** The folder of modules that the deployment changes, and its machine. */
  place: z.string(),
  /** The instance that started the deployment. */
  owner: z.string(),
  /** The number of starts that have tried the new code. */
  tries: z.number(),
  /** The module's record before the deployment; null when there was none. */
  before: z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : ModuleRow.parse(JSON.parse(text)))),
  /** Whether the module had files before the deployment. */
  files_before: z.number().transform(Boolean),
  log: z.string().transform((text) => z.array(z.string()).parse(JSON.parse(text))),
  error: z.string().nullable(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
})

/** A change of a module that needs a restart, with its progress: the journal from which the next start continues. */
export type Deployment = z.infer<typeof Row>

export interface NewDeployment {
  id: string
  module: string
  place: string
  owner: string
  before: ModuleRow | undefined
  files_before: boolean
  started_at: string
}

/** Starts a deployment with its audit entry. False, without a change, while another one is under way in that place. */
export async function addDeployment(db: Database, deployment: NewDeployment, entry?: Statement): Promise<boolean> {
  const { id, module, place, owner, before, files_before, started_at } = deployment
  const sql = `INSERT INTO deployments (id, module, state, place, owner, before, files_before, started_at)
     SELECT ?1, ?2, 'building', ?3, ?4, ?5, ?6, ?7
     WHERE NOT EXISTS (SELECT 1 FROM deployments WHERE place = ?3 AND finished_at IS NULL)`
  const args = [id, module, place, owner, before ? JSON.stringify(before) : null, files_before ? 1 : 0, started_at]
  const exists = { sql: 'SELECT count(*) FROM deployments WHERE id = ?', args: [id] }
  const [added = 0] = await db.batch([{ sql, args }, ...(entry ? [onlyIf(entry, exists)] : [])])
  return added > 0
}

export async function findDeployment(db: Database, id: string): Promise<Deployment | undefined> {
  const [row] = await db.query(Row, 'SELECT * FROM deployments WHERE id = ?', [id])
  return row
}

/** The deployment that is under way in a place. */
export async function openDeployment(db: Database, place: string): Promise<Deployment | undefined> {
  const [row] = await db.query(Row, 'SELECT * FROM deployments WHERE place = ? AND finished_at IS NULL', [place])
  return row
}

/** The newest deployment in a place. A deployment that is under way is always the newest. */
export async function lastDeployment(db: Database, place: string): Promise<Deployment | undefined> {
  const [row] = await db.query(Row, 'SELECT * FROM deployments WHERE place = ? ORDER BY rowid DESC LIMIT 1', [place])
  return row
}

/** Removes ended deployments except for the newest `kept` deployments. */
export async function pruneDeployments(db: Database, kept: number): Promise<void> {
  await db.run(
    `DELETE FROM deployments WHERE finished_at IS NOT NULL
     AND rowid <= (SELECT rowid FROM deployments ORDER BY rowid DESC LIMIT 1 OFFSET ?)`,
    [kept],
  )
}

/** Records the next step, with a line for people. */
export function enterStep(id: string, step: Step, line: string): Statement {
  return {
    sql: `UPDATE deployments SET state = ?2, log = json_insert(log, '$[#]', ?3) WHERE id = ?1 AND finished_at IS NULL`,
    args: [id, step, line],
  }
}

/** Counts a start that tries the new code. Returns the number of such starts, including this one. */
export async function countTry(db: Database, id: string): Promise<number> {
  await db.run('UPDATE deployments SET tries = tries + 1 WHERE id = ?', [id])
  return (await findDeployment(db, id))?.tries ?? 0
}

/** Records the end of a deployment, with a line for people. Changes no row when it has ended already. */
export function endDeployment(id: string, end: End, line: string, error: string | null, now: string): Statement {
  return {
    sql: `UPDATE deployments SET state = ?2, log = json_insert(log, '$[#]', ?3), error = ?4, finished_at = ?5
          WHERE id = ?1 AND finished_at IS NULL`,
    args: [id, end, line, error, now],
  }
}

/** Whether a deployment of a module is under way in any place. */
export async function isBeingDeployed(db: Database, module: string): Promise<boolean> {
  const open = await db.query(z.unknown(), 'SELECT 1 FROM deployments WHERE module = ? AND finished_at IS NULL', [
    module,
  ])
  return open.length > 0
}

import type { Database, Statement } from '../../db/libsql/database.ts'
import { findModule, listModules, type ModuleRow, putBackModule, takeOutModule } from '../../db/modules.ts'
import { type Clock, timestamp } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Actor } from '../../runtime/audit.ts'
import { moduleAuditStatement } from '../codes.ts'
import { faultOf, nextSuspect, SUSPECTED } from './faults.ts'
import type { Note, Runs } from './notes.ts'

interface CulpritServices {
  db: Database
  clock: Clock
  log: Log
  /** Makes the statement that tells administrators of it. */
  tell(out: TakenOut): Statement
}

/**
 * A module that the service has taken out; `fault` is the French sentence that says why. It leaves the machine by mail and
 * by other channels, so it has nothing of the words of the module's error.
 */
export interface TakenOut {
  id: string
  name: string
  fault: string
  at: string
}

/** The actor of changes that nobody requested. */
const SERVICE: Actor = { user: undefined, address: 'service' }

/** Takes out the module that a note blames, unless somebody has changed its record since. */
export async function takeOutByNote(services: CulpritServices, note: Note): Promise<boolean> {
  const { module: id, release } = note
  if (id === null) return false
  const row = await findModule(services.db, id)
  if (!row || !isCandidate(row) || row.updated_at !== release) return false
  const at = timestamp(services.clock())
  const told = faultOf(note.what === 'error' ? { ...note, what: 'exit' } : note)
  await takeOut(services, row, { fault: faultOf(note), told, at })
  return true
}

interface Last {
  /** Whether the last end has a culprit, who is out by now. */
  explained: boolean
  /** Whether somebody unknown ends the service. */
  unknown: boolean
  suspects: Runs['suspects']
  all: boolean
}

/** Decides whom to leave out when nobody knows the culprit, and puts back the one that was left out in vain. */
export async function decide(services: CulpritServices, { explained, unknown, suspects, all }: Last) {
  const { db, clock } = services
  const current = suspects.at(-1)
  if (explained) {
    if (current) await putBack(services, current)
    return { suspects: [], all: false, isDifferent: true }
  }
  if (!unknown || all) return { suspects, all, isDifferent: false }
  if (current) await putBack(services, current)
  const rows = await candidates(db)
  const tried = suspects.map(({ id }) => id)
  const id = nextSuspect(rows, tried)
  const row = rows.find((each) => each.id === id)
  if (!row) return { suspects: [], all: rows.length > 0, isDifferent: rows.length > 0 }
  const at = timestamp(clock())
  await takeOut(services, row, { fault: SUSPECTED, told: SUSPECTED, at })
  return { suspects: [...suspects, { id: row.id, at }], all: false, isDifferent: true }
}

const isCandidate = ({ is_core, is_enabled, backend, fault }: ModuleRow) =>
  is_core === 0 && is_enabled === 1 && backend !== null && fault === null

/** The modules whose code a start loads. */
export const candidates = async (db: Database) => (await listModules(db)).filter(isCandidate)

async function takeOut(
  services: CulpritServices,
  row: ModuleRow,
  { fault, told, at }: { fault: string; told: string; at: string },
): Promise<void> {
  const { db, log } = services
  await db.batch([
    takeOutModule(row, fault, at),
    services.tell({ id: row.id, name: row.name, fault: told, at }),
    moduleAuditStatement(services, SERVICE, 'module_taken_out', { target: row.id, details: { error: fault } }),
  ])
  log.error({ module: row.id, fault }, 'module taken out')
}

async function putBack(services: CulpritServices, { id, at }: Runs['suspects'][number]): Promise<void> {
  const row = await findModule(services.db, id)
  // Somebody has decided about it since.
  if (row?.fault_at !== at) return
  await services.db.batch([
    putBackModule(id, at),
    moduleAuditStatement(services, SERVICE, 'module_enabled', { target: id }),
  ])
  services.log.warn({ module: id }, 'module put back: the service ended without it, too')
}

import * as z from 'zod'
import { parseJson } from '../../platform/untrusted.ts'
import type { Archive, Archived } from './archive.ts'

/** One thing that a look has seen: kind, name, state and detail. */
const Item = z.tuple([z.string(), z.string(), z.enum(['good', 'bad']), z.string()])
export type Item = z.infer<typeof Item>

/** One thing that is worse: kind, name, and the details before and after; null means absent. */
const Change = z.tuple([z.string(), z.string(), z.string().nullable(), z.string().nullable()])
export type Change = z.infer<typeof Change>

const Looks = z.enum(['before', 'upgraded', 'after', 'again', 'rolled_back'])

/** One note of `PROTECTED`; each has some of these fields. Times are seconds since 1970. */
const Note = z.object({
  at: z.int().optional(),
  phase: z.string().optional(),
  snapshot: z.string().optional(),
  kind: z.enum(['snapshot', 'backup']).optional(),
  location: z.string().optional(),
  archive: z.string().optional(),
  file: z.string().nullable().optional(),
  root: z.string().nullable().optional(),
  unprivileged: z.int().optional(),
  volumes: z.array(z.string()).optional(),
  unprotected: z.string().optional(),
  refused: z.string().optional(),
  reason: z.string().optional(),
  health: Looks.optional(),
  items: z.array(Item).optional(),
  missing: z.string().optional(),
  upgraded: z.int().optional(),
  compared: z.array(Change).nullable().optional(),
  unsteady: z.array(Change).optional(),
  rollback: z.enum(['done', 'failed']).optional(),
  outage: z.int().optional(),
  left: z.array(Change).optional(),
  pruned: z.array(z.string()).optional(),
  kept: z.array(z.tuple([z.string(), z.string()])).optional(),
  outcome: z.string().optional(),
})

/** The content of the notes of a run. */
export interface RunReport {
  phases: { phase: string; at: string }[]
  snapshot?: { name: string; kind: 'snapshot' | 'backup'; made_at: string; location: string | null }
  /** The archive that vzdump has begun, and what it is of. */
  archive?: Archive & { made_at: string; of: Archived }
  /** Why there is no snapshot, although one was asked for where it is possible. */
  unprotected?: string
  refused?: { why: string; reason: string }
  looks: Partial<Record<z.infer<typeof Looks>, readonly Item[]>>
  /** Why the container could not be looked at before its upgrade. */
  unmeasured?: string
  /** Exit code of the upgrade's own command. */
  upgraded?: number
  worse: readonly Change[]
  unsteady: readonly Change[]
  rollback?: { done: boolean; reason: string; outage: number | null; left: readonly Change[] }
  pruned: readonly string[]
  /** Snapshots that could not be removed, each with the reason. */
  kept: readonly (readonly [name: string, reason: string])[]
  outcome?: string
}

/** Reads the notes of a run. Lines that are no notes of it are left out. */
export function readNotes(lines: readonly string[]): RunReport {
  const report: RunReport = { phases: [], looks: {}, worse: [], unsteady: [], pruned: [], kept: [] }
  for (const line of lines) {
    const { data: note } = Note.safeParse(parseJson(line))
    if (note) take(report, note)
  }
  return report
}

function take(report: RunReport, note: z.infer<typeof Note>): void {
  const at = new Date((note.at ?? 0) * 1_000).toISOString()
  const { reason = '' } = note
  if (note.phase !== undefined) report.phases.push({ phase: note.phase, at })
  if (note.snapshot !== undefined) {
    const { snapshot: name, kind = 'snapshot', location = null } = note
    report.snapshot = { name, kind, made_at: at, location }
  }
  if (note.archive !== undefined) {
    const { archive: location, file = null, root = null, unprivileged = 0, volumes = [] } = note
    report.archive = { location, file, made_at: at, of: { root, unprivileged: unprivileged === 1, volumes } }
  }
  if (note.unprotected !== undefined) report.unprotected = note.unprotected
  if (note.refused !== undefined) report.refused = { why: note.refused, reason }
  if (note.health === 'before') {
    if (note.items) delete report.unmeasured
    else if (note.missing !== undefined) report.unmeasured = note.missing
  }
  if (note.health !== undefined && note.items) report.looks[note.health] = note.items
  if (note.upgraded !== undefined) report.upgraded = note.upgraded
  if (note.compared) report.worse = note.compared
  if (note.unsteady) report.unsteady = note.unsteady
  if (note.rollback !== undefined) {
    const { outage = null, left = [] } = note
    report.rollback = { done: note.rollback === 'done', reason, outage, left }
  }
  if (note.pruned) report.pruned = [...report.pruned, ...note.pruned]
  if (note.kept) report.kept = [...report.kept, ...note.kept]
  if (note.outcome !== undefined) report.outcome = note.outcome
}

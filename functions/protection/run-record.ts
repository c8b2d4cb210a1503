/*
 * The result of a protected run, from its notes to its record. Without it, an exit code would be all that a job tells, and
 * an exit code does not say whether the container still does what it did.
 */
import * as z from 'zod'
import { type JobRow, noteOutcome, noteWarnings } from '../../db/jobs.ts'
import type { Statement } from '../../db/libsql/database.ts'
import { notePresent, noteSnapshot } from '../../db/snapshots.ts'
import { JobId, type EndedJob } from '../../jobs/jobs.ts'
import { Archived, archiveName } from './archive.ts'
import { Protection } from './protection.ts'
import type { Change, Item, RunReport } from './run-notes.ts'

export const Phase = z.enum([
  'waiting',
  'refreshing',
  'protecting',
  'measuring',
  'upgrading',
  'settling',
  'comparing',
  'rolling_back',
  'pruning',
  'done',
])
export type Phase = z.infer<typeof Phase>

export const Outcome = z.enum([
  'upgraded',
  'nothing_to_do',
  'plan_changed',
  'regressed',
  'rolled_back',
  'rollback_failed',
  'failed',
  'cancelled',
])
export type Outcome = z.infer<typeof Outcome>

const Kind = z.enum(['unit', 'socket', 'docker', 'podman', 'probe', 'container'])

/** Something that worked before an upgrade and does not work after it, with a French sentence. */
export const Regression = z.object({ kind: Kind, name: z.string(), message: z.string() })
export type Regression = z.infer<typeof Regression>

/** One thing in both looks; a null detail means that it is absent. */
export const Compared = z.object({
  kind: Kind,
  name: z.string(),
  before: z.string().nullable(),
  after: z.string().nullable(),
  state: z.enum(['same', 'worse', 'better', 'new', 'unsteady']),
})
export type Compared = z.infer<typeof Compared>

/** The decision about a regression; `job_id` is the rollback. */
const Decided = z.object({
  by: z.string(),
  at: z.string(),
  choice: z.enum(['keep', 'rollback']),
  job_id: JobId.nullable(),
})

/** The column `protected` of a job. */
export const ProtectedRun = z.object({
  protection: Protection.nullable(),
  unprotected: z.string().nullable().default(null),
  /** Why nothing was upgraded, or why a rollback failed, in the hypervisor's words. */
  reason: z.string().nullable().default(null),
  regressions: z.array(Regression).default([]),
  outage_seconds: z.int().nullable().default(null),
  decided: Decided.nullable().default(null),
  phases: z.array(z.object({ phase: z.string(), at: z.string() })).default([]),
  comparison: z.array(Compared).nullable().default(null),
  /** The contents of the backup. */
  archived: Archived.nullable().default(null),
})
export type ProtectedRun = z.infer<typeof ProtectedRun>

/** Reads what a job stores of its protection; undefined where it had none. */
export function protectedRunOf({ protected: text }: Pick<JobRow, 'protected'>): ProtectedRun | undefined {
  if (text === null) return undefined
  return ProtectedRun.safeParse(JSON.parse(text)).data
}

/** The findings of the look at an interrupted run. */
export interface Found {
  snapshot: 'whole' | 'incomplete' | 'none' | 'unknown'
  /** Whether the archive of a backup is whole, or may still become so. */
  isArchived?: boolean
}

/** Most regressions and most compared things of a record. */
const MOST_REGRESSIONS = 50
const MOST_COMPARED = 300
const LONGEST = 300

/** A run whose record is to be written: the name of its snapshot, and the policy that it ran with. */
export interface RunOf {
  target: string
  snapshot: string
  protection: Protection | null
}

/** Makes the statements that store what a protected upgrade came to, what became of its snapshots, and what it warns of. */
export function runStatements(
  { target, snapshot: name, protection }: RunOf,
  ended: EndedJob,
  { outcome, report, warned = [] }: { outcome: Outcome; report: RunReport; warned?: readonly string[] },
): Statement[] {
  const { row, found } = ended
  const run: ProtectedRun = {
    protection,
    unprotected: report.unprotected ?? null,
    reason: report.refused?.reason ?? (report.rollback?.done === false ? report.rollback.reason : null),
    regressions: regressionsOf(report.worse),
    outage_seconds: report.rollback?.outage ?? null,
    decided: null,
    phases: report.phases,
    comparison: comparisonOf(report),
    archived: report.archive?.of ?? null,
  }
  const phase = report.phases.at(-1)?.phase ?? null
  const made = report.snapshot ?? leftBackup(report, found) ?? leftSnapshot(name, row, found)
  const warnings = [...warningsOf(report), ...warned]
  return [
    noteOutcome(row, { phase, outcome, protectedRun: JSON.stringify(run) }),
    ...(made ? [noteSnapshot({ target, ...made, job_id: row.id, ours: true, present: true }, row)] : []),
    ...report.pruned.map((gone) => notePresent({ target, name: gone, present: false }, row)),
    ...(warnings.length > 0 ? [noteWarnings(row, warnings)] : []),
  ]
}

/** The snapshot that an interrupted run has left, although it could not note it. */
function leftSnapshot(name: string, { started_at: made_at }: JobRow, found: unknown): RunReport['snapshot'] {
  const { snapshot } = { snapshot: 'none', ...(found as Partial<Found> | undefined) }
  return snapshot === 'none' || snapshot === 'unknown' ? undefined : { name, kind: 'snapshot', made_at, location: null }
}

/**
 * The backup that an interrupted run has left, although it could not note its end. vzdump goes on without its run: where
 * nobody has looked, there may be an archive.
 */
function leftBackup({ archive, refused, outcome }: RunReport, found: unknown): RunReport['snapshot'] {
  const isCutOff = refused === undefined && outcome === undefined
  const { isArchived = isCutOff } = { ...(found as Partial<Found> | undefined) }
  if (!archive || !isArchived) return undefined
  const { location, made_at } = archive
  return { name: archiveName(location), kind: 'backup', made_at, location }
}

function warningsOf({ kept, rollback, unmeasured }: RunReport): string[] {
  return [
    ...kept.map(([name, reason]) =>
      name.startsWith('panel-')
        ? `L’instantané ${name} n’a pas pu être supprimé : ${cut(reason)}`
        : `La sauvegarde ${name} n’a pas pu être supprimée : ${cut(reason)}`,
    ),
    ...(unmeasured === undefined
      ? []
      : [`L’état du conteneur avant la mise à jour n’a pas pu être lu, et n’est comparé à rien : ${cut(unmeasured)}`]),
    ...(rollback?.left ?? [])
      .slice(0, MOST_REGRESSIONS)
      .map(([kind, called]) => `Après le retour en arrière, ceci manque encore : ${kind} ${cut(called)}`),
  ]
}

/** Returns the outcome of an upgrade by its notes, its exit code and its end. */
export function outcomeOfRun(
  { outcome, rollback, worse }: RunReport,
  { code, cancelled }: EndedJob,
  error: string | undefined,
): Outcome {
  if (outcome === 'rolled_back' || outcome === 'rollback_failed') return outcome
  if (cancelled) return 'cancelled'
  if (error === 'plan_changed') return 'plan_changed'
  // A job that is lost has not said what it came to, but perhaps what it has found.
  if (code === null && rollback) return rollback.done ? 'rolled_back' : 'rollback_failed'
  if (code === null && worse.length > 0) return 'regressed'
  if (code === null || error !== undefined) return 'failed'
  const { data } = Outcome.safeParse(outcome)
  // A run that does not say what it came to may have been cut off.
  return data ?? 'failed'
}

/** Returns what an upgrade has made worse, in French sentences; of very many only the first. */
export function regressionsOf(worse: readonly Change[]): Regression[] {
  return worse.slice(0, MOST_REGRESSIONS).flatMap(([kind, name, before, after]) => {
    const { data } = Kind.safeParse(kind)
    return data ? [{ kind: data, name: cut(name), message: sentence(data, cut(name), before, after) }] : []
  })
}

function sentence(kind: Regression['kind'], name: string, before: string | null, after: string | null): string {
  const now = after === null || after === 'failed failed' || after === '' || after === '-' ? '' : ` (${cut(after)})`
  const was = before === null || before === '' || before === '-' ? '' : ` (${cut(before)})`
  switch (kind) {
    case 'unit':
      return after === null ? `Le service ${name} ne tourne plus.` : `Le service ${name} est en échec${now}.`
    case 'socket':
      return `Le port ${name} n’écoute plus${was}.`
    case 'docker':
      return name === '(daemon)' ? 'Docker ne répond plus.' : `Le conteneur Docker ${name} ne tourne plus${now}.`
    case 'podman':
      return name === '(daemon)' ? 'Podman ne répond plus.' : `Le conteneur Podman ${name} ne tourne plus${now}.`
    case 'probe':
      return `La sonde ${name} échoue${now}.`
    case 'container':
      return `Le conteneur ${name} ne répond plus.`
  }
}

/** Compares the look before an upgrade with the last one after it; null when either is missing. */
function comparisonOf({ looks, worse, unsteady }: RunReport): Compared[] | null {
  const after = looks.again ?? looks.after
  if (!looks.before || (!after && worse.length === 0)) return null
  const key = ([kind, name]: readonly [string, string, ...unknown[]]) => `${kind}\t${name}`
  const before = new Map(looks.before.map((item) => [key(item), item]))
  const now = new Map((after ?? []).map((item) => [key(item), item]))
  const isWorse = new Set(worse.map(key))
  const isUnsteady = new Set(unsteady.map(key))
  // A container that does not answer is all that is known of it.
  const all = after ? new Set([...before.keys(), ...now.keys(), ...isWorse]) : isWorse
  const state = (each: string, was: Item | undefined, is: Item | undefined): Compared['state'] => {
    if (isWorse.has(each)) return 'worse'
    if (isUnsteady.has(each)) return 'unsteady'
    if (was && is && was[2] === is[2]) return 'same'
    if (!was) return 'new'
    // A probe that was not asked again says nothing.
    return was[2] === 'good' ? 'same' : 'better'
  }
  const compared = [...all].flatMap((each): Compared[] => {
    const [was, is] = [before.get(each), now.get(each)]
    const [kind = '', name = ''] = each.split('\t')
    const known = Kind.safeParse(kind)
    if (!known.success) return []
    const said = worse.find((change) => key(change) === each)
    return [
      {
        kind: known.data,
        name: cut(name),
        before: detail(was) ?? said?.[2] ?? null,
        after: detail(is) ?? said?.[3] ?? null,
        state: state(each, was, is),
      },
    ]
  })
  const worst = ['worse', 'unsteady', 'new', 'better', 'same']
  return compared.sort((one, other) => worst.indexOf(one.state) - worst.indexOf(other.state)).slice(0, MOST_COMPARED)
}

function detail(item: Item | undefined): string | null {
  if (!item) return null
  const [, , state, text] = item
  return text === '' || text === '-' ? state : cut(text)
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}

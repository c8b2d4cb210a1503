import * as z from 'zod'
import { decide, noteOutcome } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { notePresent } from '../../db/snapshots.ts'
import {
  type Answering,
  defineJob,
  type EndedJob,
  type JobResult,
  type LeftBy,
  type Leftovers,
} from '../../jobs/jobs.ts'
import type { Host } from '../../ssh/ssh.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import type { HypervisorSettings } from '../hypervisor/settings.ts'
import { answerByApi, hasApi } from '../hypervisor/snapshot-answers.ts'
import { parseTarget } from '../hypervisor/target.ts'
import { fail } from '../services.ts'
import { queueOf, UPDATE_EVENT } from '../updates/upgrade.ts'
import { Archived } from '../protection/archive.ts'
import { forgetCommand, leftPlace, restingState, rollbackCommand, stateLines } from '../protection/protected-run.ts'
import { endStatements } from '../protection/run-audit.ts'
import { readNotes } from '../protection/run-notes.ts'
import { outcomeOfRun, runStatements } from '../protection/run-record.ts'
import { type FoundBackup, leftBackup } from '../protection/left-backup.ts'
import { endEvents } from '../protection/run-events.ts'

/**
 * The snapshot or backup `name` of the upgrade `of`. `archived` is what the backup is of, and `agreed` are the mount points
 * that it does not have, and that somebody has agreed to lose.
 */
const Args = z.object({
  target: z.string(),
  of: z.string(),
  name: z.string(),
  kind: z.enum(['snapshot', 'backup']),
  location: z.string().nullable(),
  archived: Archived.nullable().default(null),
  agreed: z.array(z.string()).default([]),
})
type Args = z.infer<typeof Args>

/** The id of the container. Throws `target_invalid`. */
function containerOf({ target: text }: Args): string {
  const target = parseTarget(text)
  if (target?.kind !== 'container') throw fail('target_invalid', { values: { target: text } })
  return target.id
}

async function placeOf(args: Args, host: Host, db: Database) {
  const id = containerOf(args)
  return { id, name: args.name, elevation: await elevationOf(host), hasApi: await hasApi(id, db) }
}

async function leftovers(args: Args, host: Host, of: LeftBy<HypervisorSettings>): Promise<Leftovers> {
  const place = await leftPlace(host, { id: containerOf(args), name: args.name }, of)
  const { kind, location } = args
  if (kind === 'backup' && location !== null) return leftBackup(host, place, { location, file: null }, of)
  const state = await restingState(host, place, of.signal)
  return { lines: stateLines(state, args.name), found: state }
}

async function answer(args: Args, question: string, by: Answering<HypervisorSettings>): Promise<string[]> {
  const mayChange = (_step: string, snapshot: string) => snapshot === args.name
  return answerByApi(question, { ...by, id: containerOf(args), mayChange })
}

/** The parts that both jobs have alike. */
const SHARED = {
  event: UPDATE_EVENT,
  args: Args,
  queue: ({ target }: Args) => queueOf(target),
  bounds: { ofTarget: 3, ofUser: 50, ofAll: 200 },
  leftovers,
  answer,
}

/** The job that takes a container back to the snapshot of an upgrade, or restores its backup. */
export const rollbackJob = defineJob<Args, HypervisorSettings>({
  kind: 'rollback',
  ...SHARED,

  async command(args, host, _job, db) {
    return rollbackCommand(await placeOf(args, host, db), args)
  },

  async result(args, ended) {
    const report = readNotes(ended.notes)
    const failure = refusalOf(report.refused?.reason, ended)
    const outcome = outcomeOfRun(report, ended, failure?.code)
    const run = { target: args.target, snapshot: args.name, protection: null }
    // The look after a lost rollback finds the snapshot of the upgrade, which is no snapshot of this job.
    const statements = runStatements(run, { ...ended, found: undefined }, { outcome, report })
    const decided = outcome === 'rolled_back' ? [decide(args.of, { by: null, at: ended.at, job: ended.row })] : []
    const audited = await endStatements(ended, { outcome, regressions: 0, snapshot: args.name })
    const told = await endEvents(ended, { outcome, message: failure?.message, report })
    return { statements: [...statements, ...decided, ...audited, ...told], ...(failure && { failure }) }
  },
})

/** The job that removes the snapshot or backup of an upgrade. */
export const snapshotJob = defineJob<Args, HypervisorSettings>({
  kind: 'snapshot',
  ...SHARED,

  async command(args, host, _job, db) {
    return forgetCommand(await placeOf(args, host, db), args)
  },

  async result({ target, name, kind }, ended) {
    const report = readNotes(ended.notes)
    const failure = refusalOf(report.refused?.reason, ended)
    const found = ended.found as Partial<FoundBackup> | undefined
    const isGone = report.pruned.includes(name) || (kind === 'backup' ? found?.archive : found?.snapshot) === 'none'
    return {
      statements: [
        noteOutcome(ended.row, { phase: report.phases.at(-1)?.phase ?? null, outcome: null, protectedRun: null }),
        ...(isGone ? [notePresent({ target, name, present: false }, ended.row)] : []),
      ],
      ...(failure && { failure }),
    }
  },
})

function refusalOf(reason: string | undefined, { code, cancelled }: EndedJob): JobResult['failure'] {
  if (reason === undefined || code === null || cancelled) return undefined
  const { message, code: error } = fail('rollback_impossible', { values: { reason } })
  return { message, code: error }
}

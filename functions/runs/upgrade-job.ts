import * as z from 'zod'
import { type JobRow, noteOutcome, notePlanDifference } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { readOutput } from '../../db/output.ts'
import { readStorage } from '../../db/snapshots.ts'
import {
  defineJob,
  type EndedJob,
  type JobResult,
  type LeftBy,
  type Leftovers,
  type Prepared,
} from '../../jobs/jobs.ts'
import { type Host, SshError } from '../../ssh/ssh.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import type { HypervisorSettings } from '../hypervisor/settings.ts'
import { answerByApi, hasApi, isForApi } from '../hypervisor/snapshot-answers.ts'
import { parseTarget, type Target } from '../hypervisor/target.ts'
import { withManagers } from '../managers/managed-scripts.ts'
import { RUN_CODES } from '../managers/agreement.ts'
import { PlanSelection } from '../plans/plan.ts'
import { planDifference } from '../plans/plan-difference.ts'
import { plannedCommand } from '../plans/plan-command.ts'
import { runHttpProbes } from '../protection/http-probes.ts'
import { backupsBeyond } from '../protection/archive.ts'
import {
  leftPlace,
  protectedCommand,
  restingState,
  snapshotName,
  stateLines,
  withManagersInPerl,
} from '../protection/protected-run.ts'
import { REFUSED } from '../protection/protected-script.ts'
import { Protection } from '../protection/protection.ts'
import { readNotes } from '../protection/run-notes.ts'
import { type Outcome, outcomeOfRun, runStatements } from '../protection/run-record.ts'
import { endStatements } from '../protection/run-audit.ts'
import { storagesFrom } from '../protection/storage-facts.ts'
import { latenessIn, readStanding } from '../restarts/standing.ts'
import { fail } from '../services.ts'
import { leftoversOf, queueOf, UPDATE_EVENT, upgradeOf } from '../updates/upgrade.ts'
import { warningStatements } from '../updates/upgrade-warnings.ts'
import { leftBackup } from '../protection/left-backup.ts'
import { endEvents } from '../protection/run-events.ts'

/** The plan that a job carries out; without one, it refreshes the lists and upgrades everything. */
const Planned = z.object({
  id: z.string(),
  hash: z.string(),
  take: z.array(z.string()).default([]),
  selection: PlanSelection,
})

const Args = z.object({ target: z.string(), plan: Planned.optional(), protection: Protection.optional() })
type Args = z.infer<typeof Args>

/** The job that upgrades one target. With `protection`, it has a snapshot before and a comparison after it. */
export const upgradeJob = defineJob<Args, HypervisorSettings>({
  kind: 'upgrade',
  event: UPDATE_EVENT,
  args: Args,
  queue: ({ target }) => queueOf(target),
  bounds: { ofTarget: 3, ofUser: 10, ofAll: 50 },

  async command(args, host, job, db) {
    const prepared = await upgradeCommand(args, host, db)
    const { protection } = args
    const target = parseTarget(args.target)
    const elevation = await elevationOf(host)
    // A plan brings the functions of its own manager, and the host helper has all of them.
    const isWhole = args.plan !== undefined || elevation === 'helper'
    if (!protection || protection.before === 'none') return isWhole ? prepared : withManagers(prepared)
    if (target?.kind !== 'container') {
      // The host has no snapshot to go back to. A snapshot that was asked for by name must not be left out.
      if (protection.before !== 'auto') throw fail('protection_unavailable')
      return isWhole ? prepared : withManagers(prepared)
    }
    const protect = (of: Prepared) => (isWhole ? of : withManagersInPerl(of))
    const { id } = target
    const place = { id, name: snapshotName(job), elevation, hasApi: await hasApi(id, db) }
    if (protection.before !== 'backup') return protect(protectedCommand(place, protection, prepared.command))
    // By itself, vzdump would take its own default storage, which need not take backups.
    const [first = null] = storagesFrom((await readStorage(db)).get('host'))
    const policy = { ...protection, backup_storage: protection.backup_storage ?? first }
    const former = await backupsBeyond(db, args.target, { keep: protection.keep, job })
    return protect(protectedCommand(place, policy, prepared.command, { former }))
  },

  async leftovers(args, host, of): Promise<Leftovers | undefined> {
    const target = isProtected(args) ? parseTarget(args.target) : undefined
    if (target?.kind !== 'container') {
      return of.ending === 'lost' ? undefined : { lines: await leftoversOf(args.target, host) }
    }
    const place = await leftPlace(host, { id: target.id, name: snapshotName(of.id) }, of)
    const isBackup = args.protection?.before === 'backup'
    const { lines, found } = isBackup
      ? await leftBackup(host, place, readNotes(of.notes).archive, of)
      : await leftSnapshot(host, place, of)
    const unfinished = found.status === 'running' && !found.frozen ? await unfinishedIn(args.target, host) : []
    return { lines: [...unfinished, ...lines], found }
  },

  async answer({ target: text, protection }, question, by) {
    if (isForApi(question)) {
      const target = parseTarget(text)
      const own = snapshotName(by.id)
      // Older snapshots of the panel are only removed.
      const mayChange = (step: string, snapshot: string) => snapshot === own || step === 'forget'
      return answerByApi(question, { ...by, id: target?.kind === 'container' ? target.id : '', mayChange })
    }
    const signal = AbortSignal.any([by.signal, AbortSignal.timeout(PROBES_MS)])
    const found = await runHttpProbes(protection?.probes ?? [], signal)
    return found.map(({ name, good, detail }) => ['probe', name, good ? 'good' : 'bad', detail].join('\t'))
  },

  async result(args, ended) {
    const { statements, failure } = args.plan ? await plannedResult(args.plan.id, ended) : await warned(ended)
    const report = readNotes(ended.notes)
    const refused = report.refused && ended.code === REFUSED ? fail('protection_unavailable') : undefined
    const end = refused ? { message: refused.message, code: refused.code } : failure
    const outcome = isProtected(args)
      ? outcomeOfRun(report, ended, end?.code)
      : await plainOutcome(args, ended, end?.code)
    const run = { target: args.target, snapshot: snapshotName(ended.row.id), protection: args.protection ?? null }
    const record = isProtected(args)
      ? runStatements(run, ended, { outcome, report })
      : [noteOutcome(ended.row, { phase: null, outcome, protectedRun: null })]
    const audited = await endStatements(ended, {
      outcome,
      regressions: report.worse.length,
      snapshot: report.snapshot?.name,
    })
    const told = await endEvents(ended, { outcome, message: end?.message, report })
    return { statements: [...statements, ...record, ...audited, ...told], ...(end && { failure: end }) }
  },
})

async function leftSnapshot(host: Host, place: Parameters<typeof restingState>[1], { notes, signal }: LeftBy) {
  const state = await restingState(host, place, signal)
  const { phases, rollback } = readNotes(notes)
  const begun = phases.at(-1)?.phase === 'rolling_back' && !rollback
  const told = begun ? ['Un retour en arrière avait commencé : le conteneur peut être revenu à l’instantané.'] : []
  return { lines: [...told, ...stateLines(state, place.name)], found: state }
}

/** As `leftoversOf`, also for a container that does not answer. */
async function unfinishedIn(target: string, host: Host): Promise<string[]> {
  try {
    return await leftoversOf(target, host)
  } catch (error) {
    if (error instanceof SshError) return ['L’état de dpkg n’a pas pu être lu : le conteneur ne répond pas.']
    throw error
  }
}

/** HTTP probes have 10 s each, at once. */
const PROBES_MS = 15_000

/** Whether a job has phases: the host and an upgrade of all containers have none. */
function isProtected({ target, protection }: Args): boolean {
  return protection !== undefined && protection.before !== 'none' && parseTarget(target)?.kind === 'container'
}

async function upgradeCommand({ target, plan }: Args, host: Host, db: Database): Promise<Prepared> {
  if (!plan) return upgradeOf(target, host, latenessIn(await readStanding(db)))
  return { command: plannedCommand(placeOf(target, parseTarget(target)), plan, await elevationOf(host)) }
}

/** The place of a plan's target: the host, or the id of a container. Throws `target_invalid`. */
function placeOf(text: string, target: Target | undefined): string {
  if (!target || target.kind === 'all') throw fail('target_invalid', { values: { target: text } })
  return target.kind === 'host' ? 'host' : target.id
}

async function warned(ended: EndedJob): Promise<JobResult> {
  return { statements: await warningStatements(ended) }
}

/** The exit codes of `PLANNED` that end a job with an error, although its command has done what it should. */
const ERRORS: Record<number, 'plan_changed' | 'plan_not_begun' | 'plan_unbound'> = {
  [RUN_CODES.differs]: 'plan_changed',
  [RUN_CODES.notBegun]: 'plan_not_begun',
  [RUN_CODES.unbound]: 'plan_unbound',
}

async function plannedResult(plan: string, ended: EndedJob): Promise<JobResult> {
  const error = ended.code === null || ended.cancelled ? undefined : ERRORS[ended.code]
  if (error === undefined) return { statements: [] }
  const { message, code } = fail(error)
  const failure = { message, code }
  if (error !== 'plan_changed') return { statements: [], failure }
  const difference = JSON.stringify(await planDifference(ended, plan))
  return { statements: [notePlanDifference(ended.row, difference)], failure }
}

/** Returns the outcome of an upgrade without protection. */
async function plainOutcome({ plan }: Args, { db, row, code, cancelled }: EndedJob, error?: string): Promise<Outcome> {
  if (cancelled) return 'cancelled'
  if (error === 'plan_changed') return 'plan_changed'
  if (error !== undefined || code !== 0 || row.parts?.some(({ state }) => state === 'failed')) return 'failed'
  return !plan && !row.parts && (await saysNothing(db, row)) ? 'nothing_to_do' : 'upgraded'
}

/** Bytes at the end of the output in which the summary of the manager is looked for. An upgrade of nothing prints little after it. */
const SUMMARY = 4 * 1024

/**
 * Whether the manager's summary says that it has changed nothing: that of apt, or the last line of dnf, zypper and pacman,
 * because scripts of packages print such lines, too. A line about repositories may follow.
 */
async function saysNothing(db: Database, { id, output_size, output_from }: JobRow): Promise<boolean> {
  const chunks = await readOutput(db, id, Math.max(output_from, output_size - SUMMARY), SUMMARY)
  const text = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
  return (
    /^0 upgraded, 0 newly installed, (0 downgraded, )?0 to remove and \d+ not upgraded\.\s*$/m.test(text) ||
    /(^|\n)(Nothing to do\.| there is nothing to do)\s*(\nUpgraded, with warnings: [^\n]*\s*)?$/.test(text)
  )
}

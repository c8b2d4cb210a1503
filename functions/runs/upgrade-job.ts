import * as z from 'zod'
import { type JobRow, noteOutcome, notePlanDifference } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { readOutput } from '../../db/output.ts'
import { defineJob, type EndedJob, type JobResult, type Leftovers, type Prepared } from '../../jobs/jobs.ts'
import type { Host } from '../../ssh/ssh.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { parseTarget, type Target } from '../hypervisor/target.ts'
import { PLAN_DIFFERS, PLAN_NOT_BEGUN, PLAN_UNBOUND } from '../plans/bound-script.ts'
import { PlanSelection } from '../plans/plan.ts'
import { planDifference } from '../plans/plan-difference.ts'
import { plannedCommand } from '../plans/plan-script.ts'
import { runHttpProbes } from '../protection/http-probes.ts'
import { protectedCommand, readState, snapshotName, stateLines } from '../protection/protected-run.ts'
import { REFUSED } from '../protection/protected-script.ts'
import { Protection } from '../protection/protection.ts'
import { readNotes } from '../protection/run-notes.ts'
import { type Outcome, outcomeOfRun, runStatements } from '../protection/run-record.ts'
import { endStatements } from '../protection/run-audit.ts'
import { fail } from '../services.ts'
import { leftoversOf, queueOf, UPDATE_EVENT, upgradeOf } from '../updates/upgrade.ts'
import { warningStatements } from '../updates/upgrade-warnings.ts'

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
export const upgradeJob = defineJob({
  kind: 'upgrade',
  event: UPDATE_EVENT,
  args: Args,
  queue: ({ target }) => queueOf(target),
  bounds: { ofTarget: 3, ofUser: 10, ofAll: 50 },

  async command(args, host, job) {
    const prepared = await upgradeCommand(args, host)
    const { protection } = args
    const target = parseTarget(args.target)
    if (!protection || protection.before === 'none') return prepared
    if (target?.kind !== 'container') {
      // The host has no snapshot to go back to. A snapshot that was asked for by name must not be left out.
      if (protection.before !== 'auto') throw fail('protection_unavailable')
      return prepared
    }
    const place = { id: target.id, name: snapshotName(job), elevation: await elevationOf(host) }
    return { command: protectedCommand(place, protection, prepared.command), notes: true }
  },

  async leftovers(args, host, { ending, id }): Promise<Leftovers | undefined> {
    const target = isProtected(args) ? parseTarget(args.target) : undefined
    if (target?.kind !== 'container') {
      return ending === 'lost' ? undefined : { lines: await leftoversOf(args.target, host) }
    }
    const name = snapshotName(id)
    const state = await readState(host, { id: target.id, name, elevation: await elevationOf(host) })
    const unfinished = state.status === 'running' ? await leftoversOf(args.target, host) : []
    return { lines: [...unfinished, ...stateLines(state, name)], found: state }
  },

  async answer({ protection }) {
    const signal = AbortSignal.timeout(PROBES_MS)
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
    return { statements: [...statements, ...record, ...audited], ...(end && { failure: end }) }
  },
})

/** HTTP probes have 10 s each, at once. */
const PROBES_MS = 15_000

/** Whether a job has phases: the host and an upgrade of all containers have none. */
function isProtected({ target, protection }: Args): boolean {
  return protection !== undefined && protection.before !== 'none' && parseTarget(target)?.kind === 'container'
}

async function upgradeCommand({ target, plan }: Args, host: Host): Promise<Prepared> {
  if (!plan) return upgradeOf(target, host)
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
  [PLAN_DIFFERS]: 'plan_changed',
  [PLAN_NOT_BEGUN]: 'plan_not_begun',
  [PLAN_UNBOUND]: 'plan_unbound',
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

/** Bytes at the end of the output in which apt's summary is looked for. An upgrade of nothing prints little after it. */
const SUMMARY = 4 * 1024

/** Whether apt's summary says that it has changed nothing. */
async function saysNothing(db: Database, { id, output_size, output_from }: JobRow): Promise<boolean> {
  const chunks = await readOutput(db, id, Math.max(output_from, output_size - SUMMARY), SUMMARY)
  const text = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
  return /^0 upgraded, 0 newly installed, (0 downgraded, )?0 to remove and \d+ not upgraded\.\s*$/m.test(text)
}

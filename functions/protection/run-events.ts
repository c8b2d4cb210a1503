import * as z from 'zod'
import { onlyIf } from '../../db/audit.ts'
import type { Database, Statement } from '../../db/libsql/database.ts'
import { hasEnded, readEventPlace } from '../../db/notifications/former-checks.ts'
import { findPlan } from '../../db/plans.ts'
import { findUser } from '../../db/users.ts'
import type { EndedJob } from '../../jobs/jobs.ts'
import { eventStatement } from '../../notifications/notifications.ts'
import type { RunReport } from './run-notes.ts'
import { type Outcome, regressionsOf } from './run-record.ts'

/** The event of each outcome. An upgrade that changed nothing, or that a user has cancelled, is not told. */
const EVENTS = {
  upgraded: 'upgrade_done',
  failed: 'upgrade_failed',
  plan_changed: 'upgrade_failed',
  regressed: 'regressed',
  rolled_back: 'rolled_back',
  rollback_failed: 'rollback_failed',
  nothing_to_do: undefined,
  cancelled: undefined,
} as const satisfies Record<Outcome, string | undefined>

/**
 * The result of an upgrade or a rollback. `message` is the French sentence of the error that it ended with; `application` is
 * the name of the one that was updated.
 */
export interface ToldEnd {
  outcome: Outcome
  message: string | undefined
  report: RunReport
  application?: string
}

/**
 * Makes the events of an ended upgrade or rollback, for the transaction of its end. An upgrade of all containers has one for
 * each that failed. A repeated statement changes nothing, because each event of a job has one key.
 */
export async function endEvents(ended: EndedJob, end: ToldEnd): Promise<Statement[]> {
  const { db, row, at, code } = ended
  const isRollback = row.kind === 'rollback'
  const event = isRollback && end.outcome === 'failed' ? 'rollback_failed' : EVENTS[end.outcome]
  if (event === undefined) return []
  const { name, run, schedule } = await readEventPlace(db, { target: row.target, run: row.run_id })
  const regressions = regressionsOf(end.report.worse)
  const user = schedule ? undefined : await findUser(db, row.started_by)
  const counts = event === 'upgrade_done' && !isRollback ? await countsOf(db, row.plan_id) : NO_COUNTS
  const details = {
    ...counts,
    job: row.id,
    name,
    application: end.application ?? null,
    by: user?.username ?? null,
    schedule,
    outcome: end.outcome,
    code: end.report.upgraded ?? code,
    reason: reasonOf(ended, end) ?? null,
    worse: regressions.length,
    regressions: regressions.map(({ message }) => message),
  }
  const told = { at, run, event, details }
  // An event without a target is for every channel.
  const target = row.target === 'all' ? null : row.target
  const isOfParts = event === 'upgrade_failed' && row.parts !== null
  const failed = isOfParts ? (row.parts ?? []).filter(({ state }) => state === 'failed') : []
  const ofParts = failed.map((part) => ({
    ...told,
    key: `job:${row.id}:${part.id}`,
    run: run ?? row.id,
    target: `lxc:${part.id}`,
    details: { ...details, name: part.name === part.id ? '' : part.name, code: part.code, reason: null },
  }))
  const isTold = ofParts.length > 0 && code !== null
  const whole = isTold
    ? []
    : [{ ...told, key: `job:${row.id}`, run: ofParts.length > 0 ? (run ?? row.id) : run, target }]
  return [...whole, ...ofParts].map((each) => onlyIf(eventStatement(each), hasEnded(row)))
}

const NO_COUNTS = { packages: null, security: null }
const Actions = z.array(z.object({ security: z.boolean() }))

/** Counts the packages of the plan that an upgrade has carried out; nulls where there was none, or it is gone. */
async function countsOf(db: Database, id: string | null) {
  const plan = id === null ? undefined : await findPlan(db, id)
  const { data } = Actions.safeParse(plan && JSON.parse(plan.actions))
  return data ? { packages: data.length, security: data.filter(({ security }) => security).length } : NO_COUNTS
}

function reasonOf({ failure }: EndedJob, { outcome, message, report }: ToldEnd): string | undefined {
  if (outcome === 'rollback_failed' && report.rollback) return report.rollback.reason
  if (outcome === 'rolled_back' || outcome === 'regressed' || outcome === 'upgraded') return undefined
  const said = message ?? failure?.message
  const why = report.refused?.reason ?? ''
  return said !== undefined && why !== '' && !said.includes(why) ? `${said} (${why})` : said
}

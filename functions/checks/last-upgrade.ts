import * as z from 'zod'
import type { CheckRow, UpgradeOfAll } from '../../db/checks.ts'
import { JobId } from '../../jobs/jobs.ts'
import { parseJson } from '../../platform/untrusted.ts'
import { Protection } from '../protection/protection.ts'
import { Outcome, ProtectedRun } from '../protection/run-record.ts'

/** The outcomes of a protected upgrade that its exit code does not tell. */
const Harmful = Outcome.extract(['regressed', 'rolled_back', 'rollback_failed'])

/**
 * The last upgrade of a target. `warned`: it upgraded, but some package lists could not be refreshed. `plan_changed`: it
 * would have done something else than its plan, and changed nothing. `regressed`, `rolled_back`, `rollback_failed`:
 * something did not work any more after it. The update of an application takes its place until it has gone well, or somebody
 * has decided about it.
 */
export const LastUpgrade = z.object({
  job_id: JobId,
  application: z.string().nullable().meta({
    description:
      'The name of an application whose update needs somebody: it failed, or something does not work since. Null for an upgrade of packages.',
  }),
  outcome: z.enum(['done', 'warned', 'failed', 'cancelled', 'plan_changed', ...Harmful.options]),
  exit_code: z.int().nullable(),
  finished_at: z.string(),
  regressions: z.int().min(0).meta({ description: 'How many things did not work any more after it.' }),
  on_failure: Protection.shape.on_failure
    .nullable()
    .meta({ description: 'The choice of its policy after a regression; null without protection.' }),
  decided: ProtectedRun.shape.decided
    .unwrap()
    .meta({ description: 'The decision about the regressions; null while there is none.' }),
})
export type LastUpgrade = z.infer<typeof LastUpgrade>

/**
 * Whether an upgrade of all containers may have reached this one: its part ended, or it was the current one when the
 * job ended.
 */
export function mayHaveReached({ status, parts }: UpgradeOfAll, id: string): boolean {
  if (parts === null) return true
  const state = parts.find((part) => part.id === id)?.state
  if (state !== 'waiting') return state === 'done' || state === 'warned' || state === 'failed'
  // Containers are upgraded in this order, so the first part without a result was the last one reached. A successful
  // job has reached every container.
  return status === 'success' || parts.find((part) => part.state === 'waiting')?.id === id
}

/** Upgrades of all containers, and those without protection, compare nothing. */
const UNPROTECTED = { application: null, regressions: 0, on_failure: null, decided: null }

const Own = LastUpgrade.pick({ regressions: true, on_failure: true, decided: true })

/**
 * Whether something does not work since an upgrade and nobody has decided about it. A container that has answered a check
 * since a failed rollback is mended.
 */
export function isOpen({ outcome, on_failure, decided, finished_at }: LastUpgrade, checked_at: string): boolean {
  if (decided) return false
  return outcome === 'rollback_failed' ? checked_at <= finished_at : outcome === 'regressed' && on_failure !== 'keep'
}

/**
 * Returns the newest finished upgrade of the target, alone or with all containers. An upgrade of all containers exits
 * with 0 whatever each result is, so the part of this container decides.
 */
export function lastUpgradeOf(row: CheckRow, reachedBy: readonly UpgradeOfAll[]): LastUpgrade | null {
  const { own_id, own_at, own_status, own_code, own_error, own_application: application } = row
  const isAlone = own_id !== null && own_at !== null
  // An upgrade without recorded parts may not have reached this target, so it counts only where the target has no
  // upgrade of its own.
  const covering = application === null ? reachedBy : []
  const among = isAlone
    ? covering.find(({ parts, finished_at }) => parts !== null && finished_at > own_at)
    : covering[0]
  if (among) {
    const part = among.parts?.find(({ id }) => id === String(row.vmid))
    const { id: job_id, finished_at, status, exit_code, error_code } = among
    const of = { job_id, finished_at, ...UNPROTECTED }
    if (part?.state === 'done') return { ...of, exit_code: part.code, outcome: 'done' }
    if (part?.state === 'warned') return { ...of, exit_code: part.code, outcome: 'warned' }
    if (part?.state === 'failed') return { ...of, exit_code: part.code, outcome: 'failed' }
    const ended = outcomeOf(status, part ? null : exit_code, error_code)
    if (!part || ended !== 'done') return { ...of, exit_code: part ? null : exit_code, outcome: ended }
  }
  if (!isAlone) return null
  const ended =
    Harmful.safeParse(row.own_outcome).data ??
    (application === null ? outcomeOf(own_status, own_code, own_error) : 'failed')
  const outcome = ended === 'done' && row.own_warned ? 'warned' : ended
  const run = Own.safeParse(parseJson(row.own_protected ?? '')).data ?? UNPROTECTED
  return { job_id: own_id, finished_at: own_at, exit_code: own_code, outcome, ...run, application }
}

function outcomeOf(status: string | null, code: number | null, error: string | null): LastUpgrade['outcome'] {
  if (error === 'cancelled' || error === 'plan_changed') return error
  return status === 'error' || (code ?? 0) !== 0 ? 'failed' : 'done'
}

import * as z from 'zod'
import type { CheckRow, UpgradeOfAll } from '../../db/checks.ts'
import { JobId } from '../../jobs/jobs.ts'

/**
 * The last upgrade of a target. `warned`: it upgraded, but some package lists could not be refreshed. `plan_changed`: it
 * would have done something else than its plan, and changed nothing.
 */
export const LastUpgrade = z.object({
  job_id: JobId,
  outcome: z.enum(['done', 'warned', 'failed', 'cancelled', 'plan_changed']),
  exit_code: z.int().nullable(),
  finished_at: z.string(),
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

/**
 * Returns the newest finished upgrade of the target, alone or with all containers. An upgrade of all containers exits
 * with 0 whatever each result is, so the part of this container decides.
 */
export function lastUpgradeOf(row: CheckRow, reachedBy: readonly UpgradeOfAll[]): LastUpgrade | null {
  const { own_id, own_at, own_status, own_code, own_error } = row
  const isAlone = own_id !== null && own_at !== null
  // An upgrade without recorded parts may not have reached this target, so it counts only where the target has no
  // upgrade of its own.
  const among = isAlone
    ? reachedBy.find(({ parts, finished_at }) => parts !== null && finished_at > own_at)
    : reachedBy[0]
  if (among) {
    const part = among.parts?.find(({ id }) => id === String(row.vmid))
    const { id: job_id, finished_at, status, exit_code, error_code } = among
    if (part?.state === 'done') return { job_id, finished_at, exit_code: part.code, outcome: 'done' }
    if (part?.state === 'warned') return { job_id, finished_at, exit_code: part.code, outcome: 'warned' }
    if (part?.state === 'failed') return { job_id, finished_at, exit_code: part.code, outcome: 'failed' }
    const ended = outcomeOf(status, part ? null : exit_code, error_code)
    if (!part || ended !== 'done') return { job_id, finished_at, exit_code: part ? null : exit_code, outcome: ended }
  }
  if (!isAlone) return null
  const ended = outcomeOf(own_status, own_code, own_error)
  const outcome = ended === 'done' && row.own_warned ? 'warned' : ended
  return { job_id: own_id, finished_at: own_at, exit_code: own_code, outcome }
}

function outcomeOf(status: string | null, code: number | null, error: string | null): LastUpgrade['outcome'] {
  if (error === 'cancelled' || error === 'plan_changed') return error
  return status === 'error' || (code ?? 0) !== 0 ? 'failed' : 'done'
}

import { setTimeout as pause } from 'node:timers/promises'
import { readChecks } from '../../db/checks.ts'
import { waveJobs } from '../../db/schedules/runs.ts'
import { Failure } from '../../runtime/errors.ts'
import { startCheck } from '../checks/check-job.ts'
import { AWAY } from '../checks/due.ts'
import type { Services } from '../services.ts'
import { type HeldRun, scheduled } from './held-run.ts'
import { checked } from './wave-outcomes.ts'

/*
 * The checks of a run: those of a schedule that only checks, and those that refresh the package lists of a wave's targets before
 * their plans are made. A plan reads the lists as they are; without this, a night could find nothing to upgrade because nobody had
 * asked the repositories.
 */

/** Starts the check of a target, or returns the one that runs there; null while too many others run. */
export async function startedCheck(services: Services, run: HeldRun, target: string): Promise<string | null> {
  const owner = { id: run.created_by, username: run.owner_name }
  const announce = (id: string) => scheduled(services, run, owner, 'check_start', { target, details: { job_id: id } })
  try {
    return await startCheck(services, { target, startedBy: run.created_by, announce })
  } catch (error) {
    if (error instanceof Failure && error.code === 'queue_full') return null
    throw error
  }
}

/** Lists that were read so long ago are read again. A person may have checked right before. */
const FRESH_MS = 15 * 60_000
/** Checks at once. */
const AT_ONCE = 4
const LOOK_MS = 1_000
/** The pause while too many other checks run. */
const FULL_MS = 5_000

/** The targets whose check has failed, each with a French sentence; or that the host did not answer, for the log. */
export type Refreshed = { failed: ReadonlyMap<string, string> } | { away: string }

/** Checks the targets whose lists are not fresh, and waits for the ends. Rejects when `signal` aborts. */
export async function refreshLists(
  services: Services,
  run: HeldRun,
  targets: readonly string[],
  signal: AbortSignal,
): Promise<Refreshed> {
  const now = services.clock().getTime()
  const isFresh = (at: string | null) => at !== null && Math.abs(now - Date.parse(at)) < FRESH_MS
  const known = new Map((await readChecks(services.db)).map((row) => [row.target, row]))
  const rest = targets.filter((target) => !isFresh(known.get(target)?.lists_at ?? null))
  const failed = new Map<string, string>()
  let away: string | undefined
  const work = async () => {
    for (let target = rest.shift(); target !== undefined && away === undefined; target = rest.shift()) {
      const problem = await problemOf(services, run, target, signal)
      if (problem?.isAway) away = problem.message
      else if (problem) failed.set(target, problem.message)
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  } finally {
    // After a failure the others stop, too.
    rest.length = 0
  }
  return away === undefined ? { failed } : { away }
}

async function problemOf(services: Services, run: HeldRun, target: string, signal: AbortSignal) {
  let id = await startedCheck(services, run, target)
  while (id === null) {
    await pause(FULL_MS, undefined, { signal })
    id = await startedCheck(services, run, target)
  }
  for (;;) {
    signal.throwIfAborted()
    const [job] = await waveJobs(services.db, { runs: [], jobs: [id] })
    const { outcome, reason } = checked({ target, job_id: id, outcome: null, reason: null }, job)
    if (outcome === 'checked') return undefined
    if (outcome !== null) {
      const message = reason ?? 'La vérification n’a pas abouti.'
      return {
        isAway: AWAY.includes(job?.error_code ?? ''),
        message: `Les listes de paquets n’ont pas été relues : ${message}`,
      }
    }
    await pause(LOOK_MS, undefined, { signal })
  }
}

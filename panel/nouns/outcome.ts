import { type Concluded, type Ending, endingOf } from './ending.ts'

/**
 * The result of a job. The `status` of its record ignores apt's exit code. `warned`: it upgraded, but not all package lists were refreshed.
 * `flawed`: it ended, with errors on the way. `unfit`: its plan did not fit any more, so it changed nothing. The rest: something did not work
 * any more after it.
 */
export type Outcome = 'running' | 'unknown' | 'done' | 'warned' | 'flawed' | 'unfit' | 'cancelled' | 'failed' | Ending

interface Ended {
  status: 'running' | 'success' | 'error'
  /** Null when the exit code is unknown, undefined before it was read. */
  exitCode?: number | null | undefined
  errorCode?: string | null | undefined
  /** The results by container of a job over all containers; null when unknown, or for a job with one target. */
  containers?: readonly ContainerResult[] | null | undefined
  /** The service's own sentences about package lists that could not be refreshed. */
  warnings?: readonly string[] | undefined
  /** For a check: the number of targets that did not answer. */
  unchecked?: number
  /** The number of error lines in the output, if it was read. */
  errors?: number
  /** The end of a protected upgrade as the service tells it, with the decision of a person. */
  told?: Concluded
}

/** The result of one container in a job over all containers. */
export interface ContainerResult {
  vmid: number
  name: string
  state: 'waiting' | 'done' | 'warned' | 'failed' | 'stopped' | 'template' | 'locked'
  exit_code: number | null
}

export function outcomeOf(ended: Ended): Outcome {
  const { status, exitCode, errorCode, containers, warnings = [], unchecked = 0, errors = 0, told = {} } = ended
  if (status === 'running') return 'running'
  const ending = endingOf(told)
  if (ending) return ending
  if (status === 'error')
    return errorCode === 'cancelled' ? 'cancelled' : errorCode === 'plan_changed' ? 'unfit' : 'failed'
  if (exitCode === undefined) return 'unknown'
  if ((exitCode ?? 0) !== 0) return 'failed'
  // A container may print anything, so the host's own record counts.
  if (containers) {
    const { failed, warned, waiting } = resultsOf(containers)
    if (failed.length > 0) return 'flawed'
    // The results of these containers are unknown.
    if (waiting.length > 0) return 'unknown'
    return warned.length + warnings.length > 0 ? 'warned' : 'done'
  }
  // apt prints errors about lists that could not be refreshed; the service's warnings name the repositories.
  if (warnings.length > 0) return 'warned'
  return errors + unchecked > 0 ? 'flawed' : 'done'
}

/** Groups the containers of a job by result. A container that was not running is left out, which is not a failure. */
export function resultsOf(containers: readonly ContainerResult[]) {
  const are = (...states: ContainerResult['state'][]) => containers.filter(({ state }) => states.includes(state))
  return {
    failed: are('failed'),
    warned: are('warned'),
    leftOut: are('stopped', 'template', 'locked'),
    waiting: are('waiting'),
  }
}

/** The status shape of each outcome. */
export const OUTCOME_STATUS = {
  running: 'run',
  unknown: 'unknown',
  done: 'ok',
  warned: 'warn',
  flawed: 'warn',
  unfit: 'warn',
  cancelled: 'off',
  failed: 'err',
  broken: 'err',
  kept: 'warn',
  back: 'back',
  stuck: 'err',
} as const

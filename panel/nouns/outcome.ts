/** How an upgrade has ended. `status` of its record does not know of apt's exit code. */
export type Outcome = 'running' | 'unknown' | 'done' | 'flawed' | 'cancelled' | 'failed'

interface Ended {
  status: 'running' | 'success' | 'error'
  /** Null when nobody knows it, undefined until it was asked for. */
  exitCode?: number | null | undefined
  errorCode?: string | null | undefined
  /** Of one over all containers, how each has ended; null where that is not known, or it is over one target. */
  containers?: readonly ContainerResult[] | null | undefined
  /** Of a check, how many targets did not answer. */
  unchecked?: number
  /** Lines of its output that tell of an error, where those were looked at. */
  errors?: number
}

/** A container that a job over all of them has upgraded, left out, or not come to. */
export interface ContainerResult {
  vmid: number
  name: string
  state: 'waiting' | 'done' | 'failed' | 'stopped' | 'template' | 'locked'
  exit_code: number | null
}

export function outcomeOf({ status, exitCode, errorCode, containers, unchecked = 0, errors = 0 }: Ended): Outcome {
  if (status === 'running') return 'running'
  if (status === 'error') return errorCode === 'cancelled' ? 'cancelled' : 'failed'
  if (exitCode === undefined) return 'unknown'
  if ((exitCode ?? 0) !== 0) return 'failed'
  // What a container prints may look like anything: what the host has noted of it counts.
  if (containers) {
    const { failed, waiting } = resultsOf(containers)
    if (failed.length > 0) return 'flawed'
    // Nobody knows what became of those.
    return waiting.length > 0 ? 'unknown' : 'done'
  }
  return errors + unchecked > 0 ? 'flawed' : 'done'
}

/** The containers of a job, by what became of them. One that was not running is left out, and is no failure. */
export function resultsOf(containers: readonly ContainerResult[]) {
  const are = (...states: ContainerResult['state'][]) => containers.filter(({ state }) => states.includes(state))
  return { failed: are('failed'), leftOut: are('stopped', 'template', 'locked'), waiting: are('waiting') }
}

/** Its shape. */
export const OUTCOME_STATUS = {
  running: 'run',
  unknown: 'unknown',
  done: 'ok',
  flawed: 'warn',
  cancelled: 'off',
  failed: 'err',
} as const

/** How an upgrade has ended. `status` of its record does not know of apt's exit code. */
export type Outcome = 'running' | 'unknown' | 'done' | 'flawed' | 'cancelled' | 'failed'

interface Ended {
  status: 'running' | 'success' | 'error'
  /** Null when nobody knows it, undefined until it was asked for. */
  exitCode?: number | null | undefined
  /** Of its output, where that is known. */
  skipped?: number
  errors?: number
  /** What its record says last. */
  lastLine?: string | undefined
}

export function outcomeOf({ status, exitCode, skipped = 0, errors = 0, lastLine = '' }: Ended): Outcome {
  if (status === 'running') return 'running'
  if (status === 'error') return /^Annulé par /.test(lastLine) ? 'cancelled' : 'failed'
  if (exitCode === undefined) return 'unknown'
  return (exitCode ?? 0) !== 0 || skipped > 0 || errors > 0 ? 'flawed' : 'done'
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

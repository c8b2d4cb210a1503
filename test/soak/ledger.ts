import type { ReceivedOutput } from './received.ts'

/** The record of one follower of a job. */
export interface Followed {
  id: string
  how: string
  /** Undefined when it saw no end. */
  output: ReceivedOutput | undefined
}

/** The changes that the service has acknowledged to its clients, as they saw it. */
export interface Ledger {
  /** Jobs with an acknowledged start, and their users. */
  jobs: Map<string, string>
  /** Jobs with a requested cancellation, acknowledged or not. */
  cancelled: Set<string>
  followed: Followed[]
  /** For each user: acknowledged logins, and those whose answer was lost. */
  signIns: Map<string, { acknowledged: number; unanswered: number }>
}

export function createLedger(): Ledger {
  return { jobs: new Map(), cancelled: new Set(), followed: [], signIns: new Map() }
}

/** Returns the login counts of a user, to be incremented. */
export function signInsOf({ signIns }: Ledger, username: string): { acknowledged: number; unanswered: number } {
  const known = signIns.get(username) ?? { acknowledged: 0, unanswered: 0 }
  signIns.set(username, known)
  return known
}

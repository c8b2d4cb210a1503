import type { ReceivedOutput } from './received.ts'

/** One follower's account of a job. */
export interface Followed {
  id: string
  how: string
  /** Undefined when it came to no end. */
  output: ReceivedOutput | undefined
}

/** What the service has promised to its clients, as they saw it. */
export interface Ledger {
  /** Jobs whose start was acknowledged, and by whom. */
  jobs: Map<string, string>
  /** Jobs that somebody has asked to end, whether that was acknowledged or not. */
  cancelled: Set<string>
  followed: Followed[]
  /** Of each user: sign-ins that were acknowledged, and those whose answer was lost. */
  signIns: Map<string, { acknowledged: number; unanswered: number }>
}

export function createLedger(): Ledger {
  return { jobs: new Map(), cancelled: new Set(), followed: [], signIns: new Map() }
}

/** The sign-ins of a user, to be counted on. */
export function signInsOf({ signIns }: Ledger, username: string): { acknowledged: number; unanswered: number } {
  const known = signIns.get(username) ?? { acknowledged: 0, unanswered: 0 }
  signIns.set(username, known)
  return known
}

import type { Agent } from 'node:http'
import fc from 'fast-check'
import type { WireRequest } from './client.ts'
import { exchange, type Outcome } from './client.ts'
import { filled, type Known, type Target } from './requests.ts'
import { judge } from './verdict.ts'

export interface Reached {
  requests: number
  /** How often each status occurred; 101 stands for an opened socket. */
  statuses: Map<number, number>
}

/**
 * Sends generated requests to one target of a running service and judges each answer. Rejects with fast-check's report:
 * the seed, the path, and the smallest failing request.
 */
export async function checkAnswers(
  { url, agent, known }: { url: string; agent: Agent; known: Known },
  target: Target,
  requests: fc.Arbitrary<WireRequest>,
  { runs, seed, withinMs, shrink = true }: { runs: number; seed: number; withinMs: number; shrink?: boolean },
): Promise<Reached> {
  const reached: Reached = { requests: 0, statuses: new Map() }
  const property = fc.asyncProperty(requests, async (request) => {
    const outcome = await exchange(url, agent, filled(request, known), withinMs)
    reached.requests += 1
    const status = statusOf(outcome)
    if (status !== undefined) reached.statuses.set(status, (reached.statuses.get(status) ?? 0) + 1)
    judge(outcome, { ...target, method: request.method })
  })
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: !shrink })
  return reached
}

function statusOf(outcome: Outcome): number | undefined {
  if (outcome.kind === 'answer') return outcome.answer.status
  return outcome.kind === 'opened' ? 101 : undefined
}

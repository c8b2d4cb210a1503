import { createPriorityQueue, type PriorityQueue } from '../platform/priority-queue.ts'
import { SshError } from './connection.ts'

/** Limits the concurrent read commands of each user, so that one user cannot take the slots of all others. */
export interface UserReadSlots {
  /** Runs the work when the user has a free slot. Rejects with an SshError when that takes too long. */
  run<result>(user: number, work: () => Promise<result>): Promise<result>
}

/** Concurrent and queued commands per user, of 64 slots in all: two hundred open pages may belong to one person. */
const PER_USER = { running: 8, waiting: 1_000 }
const SLOT_MS = 15_000

export function createUserReadSlots(): UserReadSlots {
  const queues = new Map<number, { queue: PriorityQueue; pending: number }>()
  return {
    async run(user, work) {
      const own = queues.get(user) ?? { queue: createPriorityQueue(PER_USER), pending: 0 }
      queues.set(user, own)
      own.pending += 1
      try {
        const admitted = await own.queue.run(work, { signal: AbortSignal.timeout(SLOT_MS) })
        if (!admitted) throw new SshError('refused', 'trop de commandes de ce compte sont en cours sur l’hôte')
        return admitted.result
      } finally {
        own.pending -= 1
        if (own.pending === 0) queues.delete(user)
      }
    },
  }
}

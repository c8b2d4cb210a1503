import { createGate, type Gate } from './gate.ts'
import { SshError } from './ssh-connection.ts'

/** Shares out the commands by which users read something of the host, so that nobody takes the places of all others. */
export interface Readers {
  /** Runs the work in the user's turn. Rejects with an SshError when that does not come in time. */
  enter<result>(user: number, work: () => Promise<result>): Promise<result>
}

/** One user's commands at once, of the 64 that there is room for, and those that wait: two hundred screens are one person's. */
const OF_USER = { running: 8, waiting: 1_000 }
const TURN_MS = 15_000

export function createReaders(): Readers {
  const gates = new Map<number, { gate: Gate; inside: number }>()
  return {
    async enter(user, work) {
      const own = gates.get(user) ?? { gate: createGate(OF_USER), inside: 0 }
      gates.set(user, own)
      own.inside += 1
      try {
        const entered = await own.gate.enter(work, { signal: AbortSignal.timeout(TURN_MS) })
        if (!entered) throw new SshError('refused', 'trop de commandes de ce compte sont en cours sur l’hôte')
        return entered.result
      } finally {
        own.inside -= 1
        if (own.inside === 0) gates.delete(user)
      }
    },
  }
}

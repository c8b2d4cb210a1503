import { createPriorityQueue, type PriorityQueue } from '../../platform/priority-queue.ts'
import type { Host, Output } from '../../ssh/ssh.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { fail } from '../services.ts'
import { planCommand, type Selection, selectionWords } from './plan-script.ts'

/** As long as a check of one target may take. */
const WITHIN_MS = 125_000

/**
 * Simulates a selection on the host (`host`) or in a container, where it runs as root. Under a sudo rule for single
 * commands, the account simulates on the host, which needs no rights. Rejects with an SshError.
 */
export async function simulate(host: Host, place: string, selection: Selection, user: number): Promise<Output> {
  const elevation = await elevationOf(host)
  const rights = place === 'host' && elevation === 'rule' ? 'none' : 'command'
  const verb = ['plan', place, ...selectionWords(selection)] as const
  return host.exec(planCommand(place, selection, 'root'), { user, timeoutMs: WITHIN_MS, rights, verb })
}

/** Simulations at once: of one user, and of all. A page may ask for the plans of every container. */
const OF_USER = { running: 2, waiting: 200 }
const OF_ALL = { running: 6, waiting: 400 }
/** A simulation waits this long for its turn. */
const SLOT_MS = 60_000
const AGAIN_S = 10

interface Slots {
  all: PriorityQueue
  users: Map<number, { queue: PriorityQueue; pending: number }>
}

/** The slots of each service: tests run several in one process. */
const slots = new WeakMap<object, Slots>()

/** Runs the work in a slot of the user and one of all; throws `plans_busy` when that takes too long. */
export async function inSlot<result>(service: object, user: number, work: () => Promise<result>): Promise<result> {
  const { all, users } = slots.get(service) ?? { all: createPriorityQueue(OF_ALL), users: new Map() }
  slots.set(service, { all, users })
  const own = users.get(user) ?? { queue: createPriorityQueue(OF_USER), pending: 0 }
  users.set(user, own)
  own.pending += 1
  const signal = AbortSignal.timeout(SLOT_MS)
  try {
    const admitted = await own.queue.run(() => all.run(work, { signal }), { signal })
    if (!admitted?.result) throw fail('plans_busy', { values: { seconds: AGAIN_S }, retryAfter: AGAIN_S })
    return admitted.result.result
  } finally {
    own.pending -= 1
    if (own.pending === 0) users.delete(user)
  }
}

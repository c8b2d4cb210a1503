import { createPriorityQueue, type PriorityQueue } from '../../platform/priority-queue.ts'
import type { Command, Host, Output, Verb } from '../../ssh/ssh.ts'
import { elevationOf } from '../elevation/installed-helper.ts'
import { inContainer } from '../hypervisor/pct.ts'
import { fail } from '../services.ts'
import { compareCommand } from './conffile-scripts.ts'
import { planCommand, type Selection, selectionWords } from './plan-command.ts'

/** As long as a check of one target may take. */
const WITHIN_MS = 125_000

/**
 * Simulates a selection on the host (`host`) or in a container, where it runs as root. Under a sudo rule for single
 * commands, the account simulates on the host, which needs no rights. Rejects with an SshError.
 */
export function simulate(host: Host, place: string, selection: Selection, user: number): Promise<Output> {
  return run(host, place, planCommand(place, selection, 'root'), ['plan', place, ...selectionWords(selection)], user)
}

/**
 * Compares the changed configuration files of these packages, each `<name>[:<arch>]=<version>`, with the new ones, where
 * `simulate` looks too. Rejects with an SshError.
 */
export function compare(host: Host, place: string, offers: readonly string[], user: number): Promise<Output> {
  const own = compareCommand(offers)
  return run(host, place, place === 'host' ? own : inContainer(place, own), ['compare', place, ...offers], user)
}

async function run(host: Host, place: string, command: Command, verb: Verb, user: number): Promise<Output> {
  const elevation = await elevationOf(host)
  const rights = place === 'host' && elevation === 'rule' ? 'none' : 'command'
  return host.exec(command, { user, timeoutMs: WITHIN_MS, rights, verb })
}

/** Simulations at once: of one target, of one user, and of all. A page may ask for the plans of every container. */
const OF_TARGET = { running: 1, waiting: 20 }
const OF_USER = { running: 2, waiting: 200 }
const OF_ALL = { running: 6, waiting: 400 }
/** A simulation waits this long for its turn. */
const SLOT_MS = 60_000
const AGAIN_S = 10

interface Slots {
  all: PriorityQueue
  /** By user, and by target. */
  shares: Map<number | string, { queue: PriorityQueue; pending: number }>
}

/** The slots of each service: tests run several in one process. */
const slots = new WeakMap<object, Slots>()

/**
 * Runs the work when it is its turn among those of its target, then has a slot of its user and one of all, so that a
 * target that hangs takes no slot but its own. Throws `plans_busy` when that takes too long, or the client leaves.
 */
export async function inSlot<result>(
  service: object,
  { user, target, signal: leaves }: { user: number; target: string; signal: AbortSignal },
  work: () => Promise<result>,
): Promise<result> {
  const { all, shares } = slots.get(service) ?? { all: createPriorityQueue(OF_ALL), shares: new Map() }
  slots.set(service, { all, shares })
  const signal = AbortSignal.any([leaves, AbortSignal.timeout(SLOT_MS)])
  const within = async <part>(key: number | string, bounds: typeof OF_USER, run: () => Promise<part>) => {
    const own = shares.get(key) ?? { queue: createPriorityQueue(bounds), pending: 0 }
    shares.set(key, own)
    own.pending += 1
    try {
      return (await own.queue.run(run, { signal }))?.result
    } finally {
      own.pending -= 1
      if (own.pending === 0) shares.delete(key)
    }
  }
  const admitted = await within(target, OF_TARGET, () => within(user, OF_USER, () => all.run(work, { signal })))
  if (!admitted) throw fail('plans_busy', { values: { seconds: AGAIN_S }, retryAfter: AGAIN_S })
  return admitted.result
}

import { setTimeout as pause } from 'node:timers/promises'
import { FAULTS, type FaultName, type Scene } from './faults.ts'

/** Injects one fault after the other. */
export interface Storm {
  /** Injects all of these in turn, with pauses, for this long; each of them at least once. */
  strike(names: readonly FaultName[], ms: number): Promise<void>
  /** Number of injections of each. */
  struck: ReadonlyMap<FaultName, number>
}

/** The pause between two faults: the service recovers, and jobs start. */
const CALM_MS = [1_500, 6_000] as const

/** `announce` receives progress messages. */
export function createStorm(scene: Scene, announce: (what: string) => void): Storm {
  const { random, signal } = scene
  const struck = new Map<FaultName, number>()
  return {
    struck,
    async strike(names, ms) {
      const until = Date.now() + ms
      const shortest = ms / (2 * names.length)
      const calm = () => pause(Math.min(random.between(...CALM_MS), shortest), undefined, { signal })
      do {
        for (const name of random.shuffled(names)) {
          announce('calm')
          await calm()
          announce(FAULTS[name].title)
          struck.set(name, (struck.get(name) ?? 0) + 1)
          await FAULTS[name].strike(scene)
        }
        announce('calm')
        await calm()
      } while (Date.now() < until)
    },
  }
}

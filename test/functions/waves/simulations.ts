import { simulation } from '../plans/simulated.ts'

/** A simulation that would change nothing. */
export const NO_UPGRADES = simulation({})

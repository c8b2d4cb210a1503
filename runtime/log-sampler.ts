import type { Clock } from '../platform/clock.ts'
import { createRepeatCounter } from '../platform/recent-cache.ts'
import { limitKey } from './caller.ts'
import { type Failure, isFault } from './errors.ts'

/**
 * The first ten refusals of one code from one address are all logged; then the 16th, the 32nd, the 64th and so on.
 */
const OF_ADDRESS = 10
/** The same for all clients without a session together. */
const OF_ALL = 100

/**
 * Decides which refusals are logged: all those of signed-in users, all faults of the service, and a sample of the rest,
 * so that a flood of requests cannot fill the log.
 */
export interface LogSampler {
  /** The fields to add to the log line; undefined when the refusal is not logged. */
  fieldsFor(failure: Failure, address: string, user?: { username: string }): Record<string, string | number> | undefined
}

export function createLogSampler(clock: Clock): LogSampler {
  const ofAddress = createRepeatCounter(clock, { allUpTo: OF_ADDRESS })
  const ofAll = createRepeatCounter(clock, { allUpTo: OF_ALL })
  return {
    fieldsFor(failure, address, user) {
      const { code } = failure
      if (user) return { address, user: user.username }
      if (isFault(failure)) return { address }
      const times = ofAddress.count(`${limitKey(address)} ${code}`)
      if (times === undefined || ofAll.count('') === undefined) return undefined
      return { address, ...(times > OF_ADDRESS && { times }) }
    },
  }
}

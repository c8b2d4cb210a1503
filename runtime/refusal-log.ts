import { limitKey } from './caller.ts'
import type { Clock } from './clock.ts'
import type { Failure } from './errors.ts'
import { createRepeats } from './repeats.ts'
import { isFault } from './translate.ts'

/** Of one address and one reason, and of all that nobody has signed in for: so many are told, then each doubling. */
const OF_ADDRESS = 10
const OF_ALL = 100

/**
 * Decides which refusals get a line in the log: those of who is signed in, and what should not happen, always. Of strangers' a
 * sample, so that a flood leaves a trace there and does not fill it.
 */
export interface RefusalLog {
  /** What to add to the line; undefined for none. */
  about(failure: Failure, address: string, user?: { username: string }): Record<string, string | number> | undefined
}

export function createRefusalLog(clock: Clock): RefusalLog {
  const ofAddress = createRepeats(clock, { allUpTo: OF_ADDRESS })
  const ofAll = createRepeats(clock, { allUpTo: OF_ALL })
  return {
    about(failure, address, user) {
      const { code } = failure
      if (user) return { address, user: user.username }
      // Told of nobody but who is signed in.
      if (isFault(failure) || code === 'forbidden') return { address }
      const times = ofAddress.tell(`${limitKey(address)} ${code}`)
      if (times === undefined || ofAll.tell('') === undefined) return undefined
      return { address, ...(times > OF_ADDRESS && { times }) }
    },
  }
}

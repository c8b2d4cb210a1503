import { pruneChallenges } from '../../db/access/challenges.ts'
import { pruneFactorLocks } from '../../db/access/factors.ts'
import { timestamp } from '../../platform/clock.ts'
import { defineTask } from '../services.ts'

/** Longer than any lock, plus the clock difference between instances. */
const KEPT_MS = 2 * 3_600_000

/** Removes challenges that have expired, and counted answers that lock nothing any more. */
export default defineTask({
  name: 'prune-challenges',
  every: 600,

  async run({ db, clock }) {
    const now = clock()
    await pruneChallenges(db, timestamp(now))
    await pruneFactorLocks(db, timestamp(now), timestamp(new Date(now.getTime() - KEPT_MS)))
  },
})

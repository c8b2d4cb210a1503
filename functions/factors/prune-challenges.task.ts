import { pruneChallenges } from '../../db/access/challenges.ts'
import { pruneFactorLocks } from '../../db/access/factors.ts'
import { timestamp } from '../../platform/clock.ts'
import { defineTask } from '../services.ts'

/** Longer than any lock and any challenge, plus the clock difference between instances: a used challenge without its row is as new. */
const KEPT_MS = 2 * 3_600_000

/** Removes challenges that have expired, and counted answers that lock nothing any more. */
export default defineTask({
  name: 'prune-challenges',
  every: 600,

  async run({ db, clock }) {
    const now = clock()
    const kept = timestamp(new Date(now.getTime() - KEPT_MS))
    await pruneChallenges(db, kept)
    await pruneFactorLocks(db, timestamp(now), kept)
  },
})

import { pruneHits } from '../../db/rate-hits.ts'
import { defineTask } from '../services.ts'

/** Longer than the window of every limit counted in the database, plus the clock difference between instances. */
const KEPT_MS = 600_000

/** Removes counted sign-in attempts that no limit needs any more. */
export default defineTask({
  name: 'prune-attempts',
  every: 60,

  async run({ db, clock }) {
    const now = clock().getTime()
    await pruneHits(db, { before: now - KEPT_MS, after: now + KEPT_MS })
  },
})

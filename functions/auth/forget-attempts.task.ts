import { forgetHits } from '../../db/rate-hits.ts'
import { defineTask } from '../../runtime/task.ts'

/** Longer than the window of any limit that is counted in the database, by instances whose clocks differ. */
const KEPT_MS = 600_000

/** Removes counted attempts to sign in that no limit asks for any more. */
export default defineTask({
  name: 'forget-attempts',
  every: 60,

  async run({ db, clock }) {
    const now = clock().getTime()
    await forgetHits(db, { before: now - KEPT_MS, after: now + KEPT_MS })
  },
})

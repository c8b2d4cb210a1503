import { pruneEndedSessions, removeExpiredSessions } from '../../db/sessions.ts'
import { timestamp } from '../../platform/clock.ts'
import { defineTask } from '../services.ts'

/** Much longer than the life of an access token and than any instance takes to synchronise ended sessions. */
const ENDS_KEPT_MS = 86_400_000

/** Removes expired sessions and old records of ended sessions. */
export default defineTask({
  name: 'prune-sessions',
  every: 3_600,

  async run({ db, clock, log }) {
    const now = clock()
    const removed = await removeExpiredSessions(db, timestamp(now))
    await pruneEndedSessions(db, timestamp(new Date(now.getTime() - ENDS_KEPT_MS)))
    if (removed > 0) log.info({ removed }, 'expired sessions removed')
  },
})

import { forgetEndedSessions, removeExpiredSessions } from '../../db/sessions.ts'
import { timestamp } from '../../runtime/clock.ts'
import { defineTask } from '../../runtime/task.ts'

/** Far longer than any instance goes without learning of an end, or a token outlives it. */
const ENDS_KEPT_MS = 86_400_000

/** Removes sessions that have expired, and old ends of sessions. */
export default defineTask({
  name: 'forget-sessions',
  every: 3_600,

  async run({ db, clock, log }) {
    const now = clock()
    const removed = await removeExpiredSessions(db, timestamp(now))
    await forgetEndedSessions(db, timestamp(new Date(now.getTime() - ENDS_KEPT_MS)))
    if (removed > 0) log.info({ removed }, 'expired sessions removed')
  },
})

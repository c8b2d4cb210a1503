import { dropPing, type DuePing, duePings, notePing, takePing } from '../../db/schedules/pings.ts'
import { CLOCK_SKEW_MS } from '../../schedules/schedules.ts'
import { defineTask, type Services } from '../services.ts'
import { sendPing, signalOf } from './ping.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** The pauses after failed attempts. After the last one the signal is given up; the switch itself tells people then. */
const LONGEST_MS = 60 * MINUTE
const PAUSES_MS = [10 * SECOND, 30 * SECOND, 90 * SECOND, 5 * MINUTE, 15 * MINUTE, LONGEST_MS, LONGEST_MS]
/** Signals at once. More are sent by the next run of the task. */
const AT_ONCE = 20

/**
 * Tells the states of runs to the addresses that their schedules ping. A state that is over before its signal was sent is not
 * told any more, not even when a newer run has followed; so an address gets the newest one, at least once.
 */
export default defineTask({
  name: 'schedule-pings',
  every: 2,

  async run(services) {
    const now = services.clock().getTime()
    const due = await duePings(services.db, {
      now,
      latest: now + LONGEST_MS,
      ahead: now + CLOCK_SKEW_MS,
      limit: AT_ONCE,
    })
    await Promise.all(due.map((ping) => attempt(services, ping, now)))
  },
})

async function attempt({ db, secrets, log }: Services, due: DuePing, now: number): Promise<void> {
  const { id, schedule_id: schedule, state, waves, ping, ping_attempts, over } = due
  if (ping === null || over) return dropPing(db, due)
  const pause = PAUSES_MS[ping_attempts]
  if (!(await takePing(db, due, pause === undefined ? null : now + pause))) return
  const signal = signalOf(state, waves)
  const error = await sendPing({ secrets }, { schedule, ping, signal })
  if (error !== null)
    log.warn({ run: id, signal, attempt: ping_attempts + 1, reason: error }, 'a signal has not arrived')
  await notePing(db, due, { told: error === null ? signal : null, error })
}

import { checksRevision } from '../../db/check-schedule.ts'
import type { Database } from '../../db/libsql/database.ts'
import type { Log } from '../../platform/log.ts'
import type { Hub, HubEvent, Subscriber } from '../../platform/hub.ts'

/** The topic of all checks. */
export const CHECKS_TOPIC = 'checks'

/** Tells subscribers that stored checks or running jobs have changed, here or at another instance. */
export interface CheckChanges {
  /** Returns a function that unsubscribes. Changes come from now on. */
  subscribe(subscriber: Subscriber): () => void
  /** Returns the present revision. */
  revision(): Promise<number>
  stop(): void
}

/** Too short for a person to notice. One query serves all subscribers. */
const POLL_MS = 1_000

/** The event of a change; `seq` is the revision. */
export function checksChanged(revision: number): HubEvent {
  return { type: 'checks_changed', start: revision, seq: revision, data: {} }
}

/**
 * Reads the revision once a second while there are subscribers, and publishes it when it differs. A database that fails
 * is asked again at the next interval; a query that lasts delays the next one.
 */
export function createCheckChanges({ db, hub, log }: { db: Database; hub: Hub; log: Log }): CheckChanges {
  let known: number | undefined
  let following = false
  let failing = false
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const look = async () => {
    try {
      const next = await checksRevision(db)
      // The first subscriber gets the first revision: it may have read an older one.
      if (next !== known) hub.publish(CHECKS_TOPIC, checksChanged(next))
      known = next
      failing = false
    } catch (error) {
      if (!failing && !stopped) log.warn({ err: error }, 'changes of checks could not be read')
      failing = true
    }
    following = !stopped && hub.subscribers(CHECKS_TOPIC) > 0
    if (following) timer = setTimeout(() => void look(), POLL_MS).unref()
    else known = undefined
  }

  return {
    subscribe(subscriber) {
      const leave = hub.subscribe(CHECKS_TOPIC, subscriber)
      if (!following && !stopped) {
        following = true
        void look()
      }
      return leave
    },
    revision: () => checksRevision(db),
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

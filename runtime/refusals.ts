import { createRepeatCounter } from '../platform/recent-cache.ts'
import { writeAudit } from './audit.ts'
import type { RuntimeServices, User } from './context.ts'
import type { Failure } from './errors.ts'

/** The audit actions that the runtime writes by itself. */
export const RUNTIME_ACTIONS = ['access_refused'] as const

/** The audit log gets at most this many refusals of one endpoint in an hour, from all callers together. */
const AUDITED = { limit: 1_000, seconds: 3_600, by: 'address' } as const
/** Most characters of the targets in an entry. */
const TARGET_LENGTH = 200

/** Writes refusals to the audit log, and only so many of them that a flood cannot fill it. */
export interface Refusals {
  /** An exceeded limit, whose declaration names the action. */
  noteLimit(bucket: string, key: string, address: string, action: string): Promise<void>
  /**
   * A 403 of a signed-in caller without an entry of its own: the first of its kind, then the 2nd, 4th, 8th and so on
   * while there is one a minute. Never throws: the caller gets its answer also when the entry cannot be written.
   */
  noteForbidden(bucket: string, user: User, address: string, refused: Refused): Promise<void>
}

interface Refused {
  failure: Failure
  targets?: readonly string[] | undefined
}

export function createRefusals(services: Pick<RuntimeServices, 'db' | 'clock' | 'limiter' | 'log'>): Refusals {
  const ofLimits = createRepeatCounter(services.clock)
  const ofUsers = createRepeatCounter(services.clock, { allUpTo: 1 })
  const hasRoom = (bucket: string) => services.limiter.admit('audited refusals', bucket, AUDITED) === 0
  return {
    async noteLimit(bucket, key, address, action) {
      const times = ofLimits.count(`${bucket} ${key}`)
      if (!times || !hasRoom(bucket)) return
      await writeAudit(services, { user: undefined, address }, action, times > 1 ? { details: { refused: times } } : {})
    },
    async noteForbidden(bucket, user, address, { failure: { code }, targets = [] }) {
      const times = ofUsers.count(`${bucket} ${user.id} ${code}`)
      if (!times || !hasRoom(bucket)) return
      const details = { code, function: bucket, ...(times > 1 && { refused: times }) }
      const target = targets.join(',').slice(0, TARGET_LENGTH)
      await writeAudit(services, { user, address }, 'access_refused', { details, ...(target && { target }) }).catch(
        (err: unknown) => services.log.error({ err, function: bucket }, 'a refusal is not in the audit log'),
      )
    },
  }
}

import * as z from 'zod'
import type { AuditFilter } from '../../db/audit.ts'
import { timestamp } from '../../platform/clock.ts'
import { AUDIT_ACTIONS } from '../services.ts'

const Moment = z.iso.datetime({ offset: true }).meta({ description: 'A time with its zone (RFC 3339).' })

/** The fields of a query that choose entries of the audit log. */
export const GivenFilter = z.object({
  action: z.enum(AUDIT_ACTIONS).optional(),
  user: z.string().max(256).optional(),
  target: z.string().max(256).optional(),
  from: Moment.optional(),
  until: Moment.optional(),
})

/** Returns the filter of a query; times as the log has them. */
export function filterOf({ action, user, target, from, until }: z.infer<typeof GivenFilter>): AuditFilter {
  const stored = (moment: string | undefined) => moment && timestamp(new Date(moment))
  return { action, user, target, from: stored(from), until: stored(until) }
}

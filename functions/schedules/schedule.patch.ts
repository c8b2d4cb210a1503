import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { changeSchedule, readSchedule } from '../../db/schedules/schedules.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { notedChange } from '../audit/values.ts'
import { defineFunction } from '../services.ts'
import { CHANGE_PROOF_ERRORS, proveChange } from '../settings/own-proof.ts'
import { EXAMPLE_SCHEDULE, Schedule, ScheduleId } from './schedule.ts'
import { ScheduleChange, SetFields } from './schedule-input.ts'
import { fieldsOf, readShown, rowOf, sealedPing, timesFrom } from './set-schedule.ts'

/** Changes of these fields alone leave a schedule with the rights of its owner. */
const HARMLESS: readonly string[] = ['name', 'ping_url']

export default defineFunction({
  method: 'PATCH',
  path: '/api/schedules/:id',
  summary: 'Change a schedule',
  description:
    'Changes the given fields, and leaves a run that is running as it is. Whoever changes what a schedule does or when, or enables it, becomes its `created_by`, whose rights it uses. With another `cron` or `timezone`, and when it is enabled, only times from now on count. `password` is needed with `reboot: if_required` where that is new, or the owner is; `step_up_required` asks for a code or a passkey as for a new schedule.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['schedule_change', 'proof_refused'],
  request: { params: z.object({ id: ScheduleId }), body: ScheduleChange },
  response: Schedule,
  example: { body: { enabled: false }, response: { ...EXAMPLE_SCHEDULE, enabled: false, next: [] } },
  errors: ['schedule_missing', 'schedule_invalid', 'schedule_changed', ...CHANGE_PROOF_ERRORS],

  async handler({ params: { id }, body: { password, ping_url, ...given } }, context) {
    const { db, user, secrets, clock, auditEntry, fail } = context
    const former = await readSchedule(db, id)
    if (!former) throw fail('schedule_missing')
    const before = fieldsOf(former)
    const fields = SetFields.parse({ ...before, ...given })
    const differs = (field: keyof SetFields) => !isDeepStrictEqual(before[field], fields[field])
    const changed: string[] = SetFields.keyof().options.filter(differs)
    if (ping_url !== undefined && (ping_url !== null || former.ping !== null)) changed.push('ping_url')
    if (changed.length === 0) return readShown(context, id)

    const isPausedOnly = changed.includes('enabled') && !fields.enabled
    const isHarmless = changed.every((field) => HARMLESS.includes(field) || (field === 'enabled' && isPausedOnly))
    const owner = isHarmless ? former.created_by : user.id
    const ping = ping_url === undefined ? former.ping : ping_url && sealedPing(secrets, id, ping_url)
    const row = rowOf({ id, fields, ping, owner, pausedReason: former.paused_reason })
    const isNewReboot = before.reboot !== 'if_required' || owner !== former.created_by
    if (fields.reboot === 'if_required' && isNewReboot) await proveChange(password, context)

    const now = clock()
    const isRetimed = changed.some((field) => ['cron', 'timezone', 'enabled'].includes(field))
    const details = {
      name: fields.name,
      changed: changed.join(', '),
      enabled: fields.enabled,
      ...notedChange(before, fields),
    }
    const done = await changeSchedule(db, row, {
      times: isRetimed ? timesFrom(fields, now) : undefined,
      revision: former.revision,
      at: timestamp(now),
      entry: auditEntry('schedule_change', { target: id, details }),
    })
    if (!done) throw fail('schedule_changed')
    return readShown(context, id)
  },
})

import { addSchedule } from '../../db/schedules/schedules.ts'
import { timestamp } from '../../platform/clock.ts'
import { WRITES } from '../../runtime/function.ts'
import { noted } from '../audit/values.ts'
import { defineFunction } from '../services.ts'
import { CHANGE_PROOF_ERRORS, proveChange } from '../settings/own-proof.ts'
import { EXAMPLE_SCHEDULE, EXAMPLE_SETTINGS, MOST_SCHEDULES, Schedule } from './schedule.ts'
import { NewSchedule } from './schedule-input.ts'
import { newId, readShown, rowOf, sealedPing, timesFrom } from './set-schedule.ts'

export default defineFunction({
  method: 'POST',
  path: '/api/schedules',
  summary: 'Add a schedule',
  description:
    'Runs a check or upgrades at the times of `cron`, by the clocks of `timezone`. A fixed time runs once a day also when the clocks change. The waves follow each other: each begins when the former has ended without a regression, and `pause_minutes` after that. A run begins nothing new `window_minutes` after its time. It acts with the rights of the caller. `reboot: if_required` needs a wave with the host, and the caller’s `password`; where the host takes no passwords, or asks more than one, `step_up_required` asks for a code or a passkey of the last five minutes instead.',
  auth: 'admin',
  stepUp: true,
  rateLimit: WRITES,
  audit: ['schedule_create', 'proof_refused'],
  request: { body: NewSchedule },
  status: 201,
  response: Schedule,
  example: { body: EXAMPLE_SETTINGS, response: { ...EXAMPLE_SCHEDULE, last_run: null, recent: [] } },
  errors: ['schedule_invalid', 'schedules_full', ...CHANGE_PROOF_ERRORS],

  async handler({ body: { password, ping_url, ...fields } }, context) {
    const { db, user, secrets, clock, auditEntry, fail } = context
    const id = newId()
    const ping = ping_url == null ? null : sealedPing(secrets, id, ping_url)
    const row = rowOf({ id, fields, ping, owner: user.id })
    if (fields.reboot === 'if_required') await proveChange(password, context)
    const now = clock()
    const entry = auditEntry('schedule_create', { target: id, details: noted(fields) })
    const added = await addSchedule(db, row, {
      times: timesFrom(fields, now),
      at: timestamp(now),
      most: MOST_SCHEDULES,
      entry,
    })
    if (!added) throw fail('schedules_full', { values: { most: MOST_SCHEDULES } })
    return readShown(context, id)
  },
})

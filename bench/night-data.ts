import { auditEntry } from '../db/audit.ts'
import type { Database, Statement } from '../db/libsql/database.ts'
import { addChannel } from '../db/notifications/channels.ts'
import { addSchedule } from '../db/schedules/schedules.ts'
import { eventStatement } from '../notifications/notifications.ts'

/*
 * The rows that the benchmark of schedules and notifications stores.
 */

export const SCHEDULES = 200

const ENTRY = { action: 'bench', user_id: null, username: 'bench', target: null, ip: '', details: null }

/** Stores so many notices that were delivered to a channel. */
export async function fill(db: Database, count: number): Promise<void> {
  const now = new Date().toISOString()
  const settings = JSON.stringify({ url: 'http://127.0.0.1:1/', allow_self_signed: false })
  const chosen = JSON.stringify({
    events: ['updates_available'],
    targets: 'all',
    minimum: 'info',
    quiet: null,
    language: 'fr',
    output: false,
  })
  const channel = { id: 'channel-1', kind: 'webhook', name: 'bench', settings, secrets: '{}', chosen, enabled: true }
  await addChannel(db, channel, { now, most: 50, entry: auditEntry(ENTRY, now) })
  for (let n = 0; n < count; n++) {
    const target = `lxc:${101 + (n % 200)}`
    const details = {
      name: `ct-${n % 200}`,
      upgrades: 12,
      security: 3,
      news: 3,
      packages: ['openssl', 'curl', 'libc6'],
    }
    // All at once: the service, which is running, makes notices of events that have none.
    await db.batch([
      {
        sql: `INSERT INTO notices (at, event, severity, target) VALUES (?, 'updates_available', 'info', ?)`,
        args: [now, target],
      },
      eventStatement({ key: `bench:${n}`, at: now, event: 'updates_available', target, details }),
      {
        sql: `UPDATE notification_events SET notice_id = (SELECT max(id) FROM notices) WHERE key = ?`,
        args: [`bench:${n}`],
      },
      {
        sql: `INSERT INTO notification_deliveries (id, notice_id, channel_id, events, state, attempts, first_ms, delivered_at)
              SELECT ?, notice_id, 'channel-1', json_array(id), 'delivered', 1, 0, ? FROM notification_events WHERE key = ?`,
        args: [`delivery-${n}`, now, `bench:${n}`],
      },
    ])
  }
}

/** Stores the schedules, each with so many ended runs of ten containers. */
export async function addSchedules(db: Database, runs: number): Promise<void> {
  const now = new Date()
  const [far, at] = [now.getTime() + 3_600_000, now.toISOString()]
  const settings = JSON.stringify({
    window_minutes: 60,
    action: 'upgrade',
    only: 'all',
    waves: [{ targets: 'rest', pause_minutes: 0 }],
    on_failure: 'stop',
    reboot: 'never',
  })
  for (let n = 0; n < SCHEDULES; n++) {
    const row = {
      id: `schedule-${n}`,
      name: `schedule ${n}`,
      enabled: true,
      cron: '0 3 * * *',
      timezone: 'Europe/Paris',
      settings,
      ping: null,
      created_by: 1,
      paused_reason: null,
    }
    const times = { handled_ms: now.getTime(), next_ms: far }
    if (!(await addSchedule(db, row, { times, at, most: SCHEDULES, entry: auditEntry(ENTRY, at) })))
      throw new Error('a schedule was not added')
    await db.batch(Array.from({ length: runs }, (_, nth) => endedRun(n, nth, settings, now)))
  }
}

const WAVE = {
  ...{ targets: 'rest', pause_minutes: 0, state: 'ended', run_id: '9d1e0f2c3b4a596877665544' },
  ...{ started_at: '2026-03-01T02:00:01.204Z', finished_at: '2026-03-01T02:04:17.530Z' },
  jobs: Array.from({ length: 10 }, (_, n) => ({
    ...{ target: `lxc:${101 + n}`, job_id: `1772330404-k3x9q2p${n}`, outcome: 'upgraded', reason: null },
  })),
}

function endedRun(schedule: number, nth: number, settings: string, now: Date): Statement {
  const due = now.getTime() - nth * 86_400_000
  const at = new Date(due).toISOString()
  const waves = JSON.stringify({ waves: [WAVE], reboot: null })
  return {
    sql: `INSERT INTO schedule_runs (id, schedule_id, due_ms, due_at, closes_at, started_at, finished_at, state, settings, waves)
          VALUES (?1, ?2, ?3, ?4, ?4, ?4, ?4, 'done', ?5, ?6)`,
    args: [`run-${schedule}-${nth}`, `schedule-${schedule}`, due, at, settings, waves],
  }
}

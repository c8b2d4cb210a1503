import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../db/libsql/client.ts'
import type { Database } from '../db/libsql/database.ts'
import { addChannel } from '../db/notifications/channels.ts'
import { addSchedule } from '../db/schedules/schedules.ts'
import { auditEntry } from '../db/audit.ts'
import { takeDueSlots } from '../functions/schedules/due-slots.ts'
import { createNotifier, eventStatement } from '../notifications/notifications.ts'
import { createLog } from '../platform/log.ts'
import { createSecrets } from '../platform/secrets.ts'
import { read, requestsPerSecond } from './http.ts'
import { type Panel, startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import { compare, type Row } from './table.ts'

const NOTICES = 10_000
const SCHEDULES = 200
/** Rows of the page that is asked for. */
const PAGE = 50
const TICKS = 300
/** Enough users to keep each far below the limit of 1,200 reads a minute. */
const USERS = 1_000
/** A page, or a tick, may take so many times as long with all that is stored. */
const GOAL = 1.5

const ENTRY = { action: 'bench', user_id: null, username: 'bench', target: null, ip: '', details: null }

/**
 * Measures the pages and the periodic work of a service with 10,000 delivered notices and 200 schedules against those of
 * a service that has one page of notices, and no schedule.
 */
export async function night(): Promise<Row[]> {
  const [full, empty] = [
    await startPanel({ users: USERS, admin: true }),
    await startPanel({ users: USERS, admin: true }),
  ]
  const [tokens, others] = [tokenFile('full'), tokenFile('empty')]
  const databases = [
    await openDatabase(`file:${full.folder}/panel.db`),
    await openDatabase(`file:${empty.folder}/panel.db`),
  ] as const
  try {
    await writeFile(tokens, full.tokens.join('\n'), { mode: 0o600 })
    await writeFile(others, empty.tokens.join('\n'), { mode: 0o600 })
    await fill(databases[0], NOTICES)
    await addSchedules(databases[0])
    await fill(databases[1], PAGE)
    await expectPages(full, empty)
    return [
      await page(full, empty, [tokens, others]),
      await other(full, empty, [tokens, others]),
      await ticks(databases),
    ]
  } finally {
    for (const db of databases) db.close()
    await rm(tokens, { force: true })
    await rm(others, { force: true })
    await full.stop()
    await empty.stop()
  }
}

const tokenFile = (name: string) => join(tmpdir(), `ops-panel-bench-night-${name}-${process.pid}`)
const NOTICES_PATH = `/api/notifications/notices?limit=${PAGE}`
const CHECKS_PATH = '/api/updates/checks'

async function expectPages(full: Panel, empty: Panel): Promise<void> {
  for (const { url, tokens } of [full, empty]) {
    const { body } = await read(`${url}${NOTICES_PATH}`, tokens[0] ?? '')
    const count = JSON.stringify(body).split('"deliveries"').length - 1
    if (count !== PAGE) throw new Error(`${count} notices instead of ${PAGE}`)
  }
}

async function page(full: Panel, empty: Panel, [tokens, others]: [string, string]): Promise<Row> {
  const rates = await measure(
    { warmUp: 1, rounds: 7 },
    {
      full: () => requestsPerSecond(`${full.url}${NOTICES_PATH}`, tokens),
      empty: () => requestsPerSecond(`${empty.url}${NOTICES_PATH}`, others),
    },
  )
  return compare(
    `a page of ${NOTICES} notices / of ${PAGE}`,
    { atLeast: 1 / GOAL },
    'req/s',
    rates('full'),
    rates('empty'),
  )
}

async function other(full: Panel, empty: Panel, [tokens, others]: [string, string]): Promise<Row> {
  const rates = await measure(
    { warmUp: 1, rounds: 7 },
    {
      full: () => requestsPerSecond(`${full.url}${CHECKS_PATH}`, tokens),
      empty: () => requestsPerSecond(`${empty.url}${CHECKS_PATH}`, others),
    },
  )
  const name = `the checks beside ${NOTICES} notices and ${SCHEDULES} schedules / beside none`
  return compare(name, { atLeast: 1 / GOAL }, 'req/s', rates('full'), rates('empty'))
}

async function ticks([full, empty]: readonly [Database, Database]): Promise<Row> {
  const once = (db: Database) => {
    const { log } = createLog({ level: 'silent', pretty: false, write: () => {} })
    const clock = () => new Date()
    const services = { db, clock, log, secrets: createSecrets(Buffer.alloc(32)), publicUrl: undefined }
    const notifier = createNotifier(services)
    return async () => {
      const began = performance.now()
      for (let tick = 0; tick < TICKS; tick++) {
        await takeDueSlots(services)
        await notifier.tick()
      }
      return (performance.now() - began) / TICKS
    }
  }
  const times = await measure({ warmUp: 1, rounds: 7 }, { full: once(full), empty: once(empty) })
  const name = `a tick with ${NOTICES} notices and ${SCHEDULES} schedules / with none`
  return compare(name, { atMost: GOAL }, 'ms', times('full'), times('empty'))
}

/** Stores so many notices that were delivered to a channel. */
async function fill(db: Database, count: number): Promise<void> {
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

async function addSchedules(db: Database): Promise<void> {
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
  }
}

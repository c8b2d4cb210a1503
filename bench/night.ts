import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../db/libsql/client.ts'
import type { Database } from '../db/libsql/database.ts'
import { takeDueSlots } from '../functions/schedules/due-slots.ts'
import { createNotifier } from '../notifications/notifications.ts'
import { createLog } from '../platform/log.ts'
import { createSecrets } from '../platform/secrets.ts'
import { read, requestsPerSecond } from './http.ts'
import { type Panel, startPanel } from './panel.ts'
import { measure } from './rounds.ts'
import type { RowName } from './explanations.ts'
import { addSchedules, fill, SCHEDULES } from './night-data.ts'
import { schedulesPage } from './schedules-page.ts'
import { compare, type Goal, type Row } from './table.ts'

const NOTICES = 10_000
/** Runs of each schedule that are kept. */
const RUNS = 200
/** Runs of each schedule that the list shows. */
const SHOWN_RUNS = 14
/** Schedules that the panel asks for first. */
const SHOWN_SCHEDULES = 20
/** Rows of the page that is asked for. */
const PAGE = 50
const TICKS = 300
/** Changes of a schedule in a round. */
const CHANGES = 50
/** Enough users to keep each far below the limit of 1,200 reads a minute. */
const USERS = 1_000
/** A page, or a tick, may take so many times as long with all that is stored. */
const GOAL = 1.5
/** The share of requests a second that is left then, rounded up. */
const RATE_GOAL = 0.67

/**
 * Measures the pages and the periodic work of a service with 10,000 delivered notices and 200 schedules against those of
 * a service that has one page of notices, and no schedule. A third one has the same schedules with a short history.
 */
export async function night(): Promise<Row[]> {
  const panels = [await started('full'), await started('empty'), await started('short')] as const
  const [full, empty, short] = panels
  try {
    await fill(full.db, NOTICES)
    await addSchedules(full.db, RUNS)
    await fill(empty.db, PAGE)
    await addSchedules(short.db, SHOWN_RUNS)
    await expectPages(full, empty)
    return [
      await compared(`a page of ${NOTICES} notices / of ${PAGE}`, NOTICES_PATH, [full, empty]),
      await compared(`the checks beside ${NOTICES} notices and ${SCHEDULES} schedules / beside none`, CHECKS_PATH, [
        full,
        empty,
      ]),
      await compared(`a page of ${SCHEDULES} schedules with ${RUNS} runs each / of none`, PAGE_PATH, [full, empty]),
      await afterChanges([full, empty]),
      await compared(`all ${SCHEDULES} schedules with ${RUNS} runs each / with ${SHOWN_RUNS}`, LIST_PATH, [
        full,
        short,
      ]),
      await compared(`all ${SCHEDULES} schedules with ${RUNS} runs each / none`, LIST_PATH, [full, empty], {
        goal: undefined,
      }),
      await compared(`the runs of one of ${SCHEDULES} schedules, of ${RUNS} / of ${SHOWN_RUNS}`, RUNS_PATH, [
        full,
        short,
      ]),
      await ticks([full.db, empty.db]),
      await schedulesPage(),
    ]
  } finally {
    for (const panel of panels) await panel.stop()
  }
}

/** A service, its database, and a file with the tokens of its users. */
interface Service {
  panel: Panel
  db: Database
  tokens: string
  stop(): Promise<void>
}

async function started(name: string): Promise<Service> {
  const panel = await startPanel({ users: USERS, admin: true })
  const tokens = join(tmpdir(), `ops-panel-bench-night-${name}-${process.pid}`)
  const db = await openDatabase(`file:${panel.folder}/panel.db`)
  await writeFile(tokens, panel.tokens.join('\n'), { mode: 0o600 })
  const stop = async () => {
    await db.close()
    await rm(tokens, { force: true })
    await panel.stop()
  }
  return { panel, db, tokens, stop }
}

const NOTICES_PATH = `/api/notifications/notices?limit=${PAGE}`
const CHECKS_PATH = '/api/updates/checks'
const LIST_PATH = '/api/schedules'
/** The first request of the panel’s page. */
const PAGE_PATH = `${LIST_PATH}?limit=${SHOWN_SCHEDULES}`
const RUNS_PATH = `${LIST_PATH}/schedule-0/runs?limit=${SHOWN_RUNS}`

async function expectPages(full: Service, empty: Service): Promise<void> {
  const count = async ({ panel }: Service, path: string, word: string) =>
    JSON.stringify((await read(`${panel.url}${path}`, panel.tokens[0] ?? '')).body).split(word).length - 1
  for (const service of [full, empty]) {
    const notices = await count(service, NOTICES_PATH, '"deliveries"')
    if (notices !== PAGE) throw new Error(`${notices} notices instead of ${PAGE}`)
  }
  const schedules = await count(full, LIST_PATH, '"last_run":{')
  if (schedules !== SCHEDULES) throw new Error(`${schedules} schedules with a run instead of ${SCHEDULES}`)
  const shown = await count(full, PAGE_PATH, '"last_run":{')
  if (shown !== SHOWN_SCHEDULES) throw new Error(`${shown} schedules on a page instead of ${SHOWN_SCHEDULES}`)
}

/** The requests a second of an address to two services, in one run. */
async function compared(
  name: RowName,
  path: string,
  [ours, anchor]: readonly [Service, Service],
  { goal }: { goal: Goal | undefined } = { goal: { atLeast: RATE_GOAL } },
): Promise<Row> {
  const load =
    ({ panel, tokens }: Service) =>
    () =>
      requestsPerSecond(`${panel.url}${path}`, tokens)
  const rates = await measure({ warmUp: 1, rounds: 7 }, { ours: load(ours), anchor: load(anchor) })
  return compare(name, goal, 'req/s', rates('ours'), rates('anchor'))
}

/** The time of the page of schedules after a change, when no answer is kept. */
async function afterChanges([full, empty]: readonly [Service, Service]): Promise<Row> {
  const once =
    ({ panel, db }: Service) =>
    async () => {
      let took = 0
      for (let nth = 0; nth < CHANGES; nth++) {
        await db.batch([{ sql: `UPDATE revisions SET n = n + 1 WHERE name = 'schedules'` }])
        const began = performance.now()
        await read(`${panel.url}${PAGE_PATH}`, panel.tokens[nth] ?? '')
        took += performance.now() - began
      }
      return took / CHANGES
    }
  const times = await measure({ warmUp: 1, rounds: 7 }, { full: once(full), empty: once(empty) })
  const name = `that page after a change of ${SCHEDULES} schedules / of none`
  return compare(name, undefined, 'ms', times('full'), times('empty'))
}

async function ticks([full, empty]: readonly [Database, Database]): Promise<Row> {
  const once = (db: Database) => {
    const { log } = createLog({ level: 'silent', write: () => {} })
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

import * as z from 'zod'
import type { Database } from '../../../db/libsql/database.ts'
import { functions } from '../../../functions/index.ts'
import type { Services } from '../../../functions/services.ts'
import due from '../../../functions/schedules/schedules-due.task.ts'
import { testApp } from '../../app.ts'
import { answered } from '../answers.ts'

/** A schedule as a person sends it. */
export const NIGHTLY = {
  name: 'Nuit',
  cron: '0 3 * * *',
  timezone: 'UTC',
  window_minutes: 60,
  action: 'upgrade',
  waves: [{ targets: ['lxc:101'] }, { targets: 'rest' }],
}

const Id = z.looseObject({ id: z.string() })

/** The whole service, with a clock that a test sets. */
export async function scheduleApp(options: Parameters<typeof testApp>[1] = {}) {
  const app = await testApp(functions, options)
  const post = async (fields: object = {}) =>
    Id.parse(
      await answered(
        await app.request('POST', '/api/schedules', { as: 'admin', body: { ...NIGHTLY, ...fields } }),
        201,
      ),
    ).id
  return {
    ...app,
    /** Adds a schedule and returns its id. */
    post,
    tick: () => due.run(app.services),
    /** Sets the clock. */
    at(time: string) {
      app.advance(Date.parse(time) - app.services.clock().getTime())
    },
    get: async (path: string) =>
      z.record(z.string(), z.unknown()).parse(await answered(await app.request('GET', path, { as: 'user' }), 200)),
  }
}

const RunRow = z.object({
  due_at: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
  missed: z.number(),
  started_by: z.string().nullable(),
})

/** The runs and missed times of all schedules, the oldest first. */
export function runs(db: Database): Promise<z.infer<typeof RunRow>[]> {
  return db.query(RunRow, 'SELECT due_at, state, reason, missed, started_by FROM schedule_runs ORDER BY due_ms, state')
}

/** The same in short: `03-02T03:00 running`, `03-01T03:00 missed service_away 4`. */
export async function story(db: Database): Promise<string[]> {
  return (await runs(db)).map(({ due_at, state, reason, missed }) =>
    [due_at.slice(5, 16), state, ...(state === 'missed' ? [reason, missed] : [])].join(' '),
  )
}

/** Ends the runs that are running, as the part that carries them out does. */
export async function finish(db: Database, state = 'done'): Promise<void> {
  await db.run(`UPDATE schedule_runs SET state = ?, finished_at = due_at WHERE state = 'running'`, [state])
}

/** Services of another instance with the same clock. */
export function another(services: Services, db: Database): Services {
  return { ...services, db }
}

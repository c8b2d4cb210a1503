import * as z from 'zod'
import { expect, test } from 'vitest'
import { notePing, type DuePing } from '../../../db/schedules/pings.ts'
import { type Schedule, standingOf } from '../../../panel/nouns/schedule.ts'
import { answered, refused } from '../answers.ts'
import { finish, scheduleApp } from './schedule-app.ts'

const Page = z.object({
  schedules: z.array(
    z.looseObject({
      id: z.string(),
      name: z.string(),
      revision: z.number(),
      next: z.array(z.string()),
      last_run: z
        .looseObject({ state: z.string(), schedule_revision: z.number().nullable(), ping_error: z.string().nullable() })
        .nullable(),
    }),
  ),
  paused: z.looseObject({ by: z.string() }).nullable(),
  total: z.number(),
  need: z.number(),
  soonest: z.object({ id: z.string(), name: z.string(), at: z.string() }).nullable(),
  next: z.string().nullable(),
})

async function listApp() {
  const app = await scheduleApp()
  return { ...app, page: async (query = '') => Page.parse(await app.get(`/api/schedules${query}`)) }
}

test('without a limit the list has all schedules, and with it pages that join to the same list', async () => {
  const app = await listApp()
  for (let n = 0; n < 7; n++) await app.post({ name: `s${n}` })
  const all = await app.page()

  const names: string[] = []
  let query = '?limit=3'
  for (let pages = 1; ; pages++) {
    const { schedules, next } = await app.page(query)
    names.push(...schedules.map(({ name }) => name))
    if (next === null) {
      expect(pages).toBe(3)
      break
    }
    expect(schedules).toHaveLength(3)
    query = `?limit=3&after=${encodeURIComponent(next)}`
  }

  expect(all.next).toBeNull()
  expect(names).toEqual(all.schedules.map(({ name }) => name))
  expect(names).toEqual(['s0', 's1', 's2', 's3', 's4', 's5', 's6'])
  expect((await app.page('?limit=7')).next).toBeNull()
})

test('a page goes on after a schedule that was removed meanwhile', async () => {
  const app = await listApp()
  const ids = [await app.post({ name: 'a' }), await app.post({ name: 'b' }), await app.post({ name: 'c' })]
  const { next } = await app.page('?limit=2')
  await answered(await app.request('DELETE', `/api/schedules/${ids[1]}`, { as: 'admin' }), 200)

  const rest = await app.page(`?limit=2&after=${encodeURIComponent(next ?? '')}`)
  expect(rest.schedules.map(({ name }) => name)).toEqual(['c'])
  expect(rest).toMatchObject({ total: 2, next: null })
})

test.each([
  '?limit=0',
  '?limit=501',
  '?after=0',
  '?after=6+a+b',
  `?after=0+a+${'b'.repeat(200)}`,
  `?q=${'a'.repeat(101)}`,
])('%s is refused', async (query) => {
  const app = await listApp()
  await refused(await app.request('GET', `/api/schedules${query}`, { as: 'user' }), 400, 'invalid_request')
})

/** Schedules of every standing, in the order of their creation, each with its newest run where it has one. */
const STANDINGS = [
  { name: 'zéro', newest: 'done' },
  { name: 'Élan', newest: 'cancelled' },
  { name: 'nuit 10', newest: null },
  { name: 'nuit 9', newest: 'done' },
  { name: 'suspendue', newest: 'stopped', enabled: false },
  { name: 'en cours', newest: 'running' },
  { name: 'plage', newest: 'window_closed' },
  { name: 'manquée', newest: 'missed' },
  { name: 'arrêtée', newest: 'stopped' },
  { name: 'refusée', newest: 'done', enabled: false, reason: 'Le compte n’existe plus.' },
] as const

async function standingApp() {
  const app = await listApp()
  for (const [n, { name, newest, ...rest }] of STANDINGS.entries()) {
    // The last one is due first.
    const id = await app.post({ name, cron: `${59 - n} 3 * * *` })
    const run = (due: number, state: string) =>
      app.db.run(
        `INSERT INTO schedule_runs (id, schedule_id, due_ms, due_at, closes_at, state, settings, waves)
         SELECT ?1, id, ?2, '2026-02-01T00:00:00.000Z', '2026-02-01T00:00:00.000Z', ?3, settings, '{"waves":[],"reboot":null}'
         FROM schedules WHERE id = ?4`,
        [`run-${n}-${due}`, due, state, id],
      )
    // A former run decides nothing.
    await run(1, 'stopped')
    if (newest !== null) await run(2, newest)
    else await app.db.run('DELETE FROM schedule_runs WHERE schedule_id = ?', [id])
    if ('enabled' in rest)
      await app.db.run('UPDATE schedules SET enabled = 0, paused_reason = ? WHERE id = ?', [
        'reason' in rest ? rest.reason : null,
        id,
      ])
  }
  return app
}

test('what needs somebody comes first, then by name as people sort names, on one page or on many', async () => {
  const app = await standingApp()
  const order = [
    ...['refusée', 'arrêtée', 'manquée', 'plage'],
    ...['en cours', 'Élan', 'nuit 9', 'nuit 10', 'zéro', 'suspendue'],
  ]
  const all = await app.page()
  const joined: string[] = []
  for (let next: string | null = ''; next !== null; ) {
    const after = next === '' ? '' : `&after=${encodeURIComponent(next)}`
    const page: z.infer<typeof Page> = await app.page(`?limit=3${after}`)
    joined.push(...page.schedules.map(({ name }) => name))
    // The figures are those of all schedules.
    expect([page.total, page.need, page.soonest?.name]).toEqual([10, 4, 'arrêtée'])
    next = page.next
  }

  expect(all.schedules.map(({ name }) => name)).toEqual(order)
  expect(joined).toEqual(order)
  expect(all.soonest?.at).toMatch(/T03:51:00/)
})

test('the panel and the service agree about who needs somebody', async () => {
  const app = await standingApp()
  const { schedules, need } = z
    .object({ schedules: z.array(z.custom<Schedule>((each) => typeof each === 'object')), need: z.number() })
    .parse(await app.get('/api/schedules'))

  expect(schedules.map((each) => /^(barred|broken|trouble)$/.test(standingOf(each)))).toEqual(
    schedules.map((_, n) => n < need),
  )
})

test('a search finds a part of a name without regard to case and accents, and leaves the figures of all', async () => {
  const app = await standingApp()
  const found = async (q: string) => (await app.page(`?q=${encodeURIComponent(q)}`)).schedules.map(({ name }) => name)

  expect(await found('NUIT')).toEqual(['nuit 9', 'nuit 10'])
  expect(await found(' elan ')).toEqual(['Élan'])
  expect(await found('arrêtee')).toEqual(['arrêtée'])
  expect(await found('%')).toEqual([])
  const page = await app.page('?q=nuit&limit=1')
  expect(page).toMatchObject({ total: 10, need: 4, next: expect.stringContaining('nuit 9') })
  expect((await app.page(`?q=nuit&limit=1&after=${encodeURIComponent(page.next ?? '')}`)).next).toBeNull()
})

test('the time that is told next is that of the list, also between its coming and the moment when it is taken', async () => {
  const app = await listApp()
  app.at('2026-03-01T02:59:30.000Z')
  await app.post()
  const told = async () => {
    const { schedules, soonest } = await app.page()
    expect(soonest?.at).toBe(schedules[0]?.next[0])
    return soonest?.at
  }

  expect(await told()).toBe('2026-03-01T03:00:00.000Z')
  app.at('2026-03-01T03:00:01.000Z')
  expect(await told()).toBe('2026-03-02T03:00:00.000Z')
  await app.tick()
  expect(await told()).toBe('2026-03-02T03:00:00.000Z')
})

test('a list is never older than a change of a schedule, a run, a ping or the pause, nor than a minute', async () => {
  const app = await listApp()
  app.at('2026-03-01T02:59:30.000Z')
  const id = await app.post({ ping_url: 'https://ping.test/x' })
  const first = await app.page()
  expect(first.schedules).toMatchObject([
    { last_run: null, next: expect.arrayContaining(['2026-03-01T03:00:00.000Z']) },
  ])
  expect(await app.page()).toEqual(first)

  app.at('2026-03-01T03:00:00.000Z')
  expect((await app.page()).schedules[0]?.next).not.toContain('2026-03-01T03:00:00.000Z')
  await app.tick()
  expect((await app.page()).schedules).toMatchObject([{ last_run: { state: 'running', schedule_revision: 1 } }])

  const ping: DuePing = {
    ...{
      id: '',
      schedule_id: id,
      state: 'running',
      ping: null,
      ping_attempts: -1,
      ping_at_ms: 0,
      waves: '',
      over: false,
    },
    ...z.array(z.object({ id: z.string() })).parse(await app.db.query(z.unknown(), 'SELECT id FROM schedule_runs'))[0],
  }
  await notePing(app.db, ping, { told: null, error: 'Rien n’est arrivé.' })
  expect((await app.page()).schedules).toMatchObject([{ last_run: { ping_error: 'Rien n’est arrivé.' } }])

  await finish(app.db)
  expect((await app.page()).schedules).toMatchObject([{ last_run: { state: 'done' } }])

  await answered(await app.request('PATCH', `/api/schedules/${id}`, { as: 'admin', body: { name: 'Autre' } }), 200)
  expect((await app.page()).schedules).toMatchObject([{ name: 'Autre', revision: 2 }])

  await answered(await app.request('PUT', '/api/schedules', { as: 'admin', body: { paused: true } }), 200)
  expect((await app.page()).paused).toMatchObject({ by: 'alice' })
  await answered(await app.request('PUT', '/api/schedules', { as: 'admin', body: { paused: false } }), 200)
  expect((await app.page()).paused).toBeNull()

  await answered(await app.request('DELETE', `/api/schedules/${id}`, { as: 'admin' }), 200)
  expect((await app.page()).schedules).toEqual([])
})

test('a run says which revision of its schedule it carries out, whatever the schedule becomes', async () => {
  const app = await listApp()
  const id = await app.post()
  await answered(await app.request('PATCH', `/api/schedules/${id}`, { as: 'admin', body: { only: 'security' } }), 200)

  const { run_id } = z
    .object({ run_id: z.string() })
    .parse(
      z
        .looseObject({ run_id: z.string() })
        .parse(await answered(await app.request('POST', `/api/schedules/${id}/run`, { as: 'admin' }), 202)),
    )
  await answered(await app.request('PATCH', `/api/schedules/${id}`, { as: 'admin', body: { only: 'all' } }), 200)

  expect(await app.get(`/api/schedules/runs/${run_id}`)).toMatchObject({ schedule_revision: 2 })
  expect(await app.get(`/api/schedules/${id}`)).toMatchObject({ revision: 3 })
})

test('the runs of a schedule are read page by page, and a place that is gone is told', async () => {
  const app = await listApp()
  const [id, other] = [await app.post(), await app.post({ name: 'Autre' })]
  for (let day = 1; day <= 5; day++) {
    app.at(`2026-03-0${day}T03:00:00.000Z`)
    await app.tick()
    await finish(app.db)
  }
  const Runs = z.object({
    runs: z.array(z.looseObject({ id: z.string(), due_at: z.string() })),
    next: z.string().nullable(),
  })
  const days: string[] = []
  const pages: number[] = []
  let before: string | null = ''
  while (before !== null) {
    const page = Runs.parse(
      await app.get(`/api/schedules/${id}/runs?limit=2${before === '' ? '' : `&before=${before}`}`),
    )
    days.push(...page.runs.map(({ due_at }) => due_at.slice(8, 10)))
    pages.push(page.runs.length)
    before = page.next
  }

  expect(days).toEqual(['05', '04', '03', '02'])
  expect(pages).toEqual([2, 2])
  const { runs } = Runs.parse(await app.get(`/api/schedules/${other}/runs`))
  for (const place of [runs[0]?.id, 'nothing'])
    await refused(
      await app.request('GET', `/api/schedules/${id}/runs?before=${place}`, { as: 'user' }),
      404,
      'schedule_run_missing',
    )
})

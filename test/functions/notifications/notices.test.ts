import { expect, test } from 'vitest'
import * as z from 'zod'
import notices from '../../../functions/notifications/notices.get.ts'
import { type Details, type EventName, eventStatement } from '../../../notifications/event.ts'
import { testApp } from '../../app.ts'
import { answered, refused } from '../answers.ts'

const PATH = '/api/notifications/notices'
const AT = '2026-03-01T02:31:06.000Z'
const NEXT = '2026-03-01T02:36:06.000Z'

const Page = z.object({
  notices: z.array(z.looseObject({ id: z.number(), title: z.string(), text: z.string() })),
  next: z.number().nullable(),
})

const failing = (name: string): Details<'check_failed'> => ({ name, message: null })

async function world() {
  const app = await testApp([notices])
  const read = async (query = '') =>
    Page.parse(await answered(await app.request('GET', `${PATH}${query}`, { as: 'admin' }), 200))
  /** Stores a notice of these events, in order. */
  const store = async <name extends EventName>(
    id: number,
    all: readonly { event: name; target: string | null; details: Details<name>; run?: string }[],
  ) => {
    const [first] = all
    await app.db.batch([
      {
        sql: `INSERT INTO notices (id, at, event, severity, target) VALUES (?, ?, ?, 'warning', ?)`,
        args: [id, AT, first?.event ?? '', first?.target ?? null],
      },
      ...all.map((each, n) => eventStatement({ key: `key ${id} ${n}`, at: AT, ...each })),
      { sql: 'UPDATE notification_events SET notice_id = ? WHERE notice_id IS NULL', args: [id] },
    ])
  }
  const one = (id: number) => store(id, [{ event: 'check_failed', target: 'lxc:101', details: failing('web') }])
  return { app, read, store, one }
}

test('a notice has its text in the chosen language, a path as its link, and its deliveries', async () => {
  const { app, read, one } = await world()
  await one(1)
  await app.db.script(`
    INSERT INTO notification_channels (id, name, kind, settings, secrets, chosen, enabled, created_at)
      VALUES ('c1', 'a', 'ntfy', '{}', '', '{}', 1, ''), ('c2', 'b', 'ntfy', '{}', '', '{}', 1, '');
    INSERT INTO notification_deliveries (id, notice_id, channel_id, events, state, attempts, first_ms, next_ms, last_error, delivered_at)
      VALUES ('d1', 1, 'c1', '[1]', 'delivered', 1, 0, NULL, NULL, '${AT}'),
        ('d2', 1, 'c2', '[1]', 'waiting', 3, 0, ${Date.parse(NEXT)}, 'HTTP 500', NULL);`)

  const notice = {
    id: 1,
    at: AT,
    event: 'check_failed',
    severity: 'warning',
    target: 'lxc:101',
    title: 'web (lxc:101) : la vérification échoue',
    text: expect.stringContaining('La cible n’a pas répondu'),
    link: '/updates',
    deliveries: [
      { channel_id: 'c1', state: 'delivered', attempts: 1, last_error: null, delivered_at: AT, next_at: null },
      { channel_id: 'c2', state: 'waiting', attempts: 3, last_error: 'HTTP 500', delivered_at: null, next_at: NEXT },
    ],
  }
  expect(await read()).toEqual({ notices: [notice], next: null })
  expect((await read('?language=en')).notices).toMatchObject([
    { title: 'web (lxc:101): checks fail', link: '/updates' },
  ])
})

test('pages follow each other without a gap, newest first', async () => {
  const { read, one } = await world()
  for (let id = 1; id <= 5; id += 1) await one(id)
  const ids = async (query: string) => {
    const { notices: found, next } = await read(query)
    return [found.map(({ id }) => id), next]
  }

  expect(await ids('?limit=2')).toEqual([[5, 4], 4])
  expect(await ids('?limit=2&before=4')).toEqual([[3, 2], 2])
  expect(await ids('?limit=2&before=2')).toEqual([[1], null])
  expect(await ids('?before=1')).toEqual([[], null])
})

test('a notice of many events tells the worst, and counts all', async () => {
  const { read, store } = await world()
  const target = (n: number) => `lxc:${100 + n}`
  const news = { name: '', upgrades: 1, security: 0, news: 1, packages: ['bash'] }
  await store<'check_failed' | 'updates_available'>(1, [
    ...Array.from({ length: 60 }, (_, n) => ({
      event: 'updates_available' as const,
      target: target(n),
      details: news,
    })),
    { event: 'check_failed', target: 'lxc:900', details: failing('late') },
  ])

  const { notices: found } = await read('?language=en')

  expect(found).toMatchObject([{ event: 'check_failed', title: 'late (lxc:900): checks fail; updates for 60 targets' }])
  const lines = found[0]?.text.split('\n') ?? []
  expect(lines[0]).toContain('late (lxc:900)')
  expect(lines.at(-3)).toBe('… and 41 more.')
})

test('notices are for administrators', async () => {
  const { app } = await world()

  await refused(await app.request('GET', PATH, { as: 'user' }), 403, 'forbidden')
  await refused(await app.request('GET', PATH), 401, 'unauthenticated')
})

test.each(['?limit=0', '?limit=101', '?before=x', '?language=de'])('%s is 400', async (query) => {
  const { app } = await world()

  await refused(await app.request('GET', `${PATH}${query}`, { as: 'admin' }), 400, 'invalid_request')
})

test('a page of 10,000 notices takes as long as one of 100, and the largest one is quick', async () => {
  const { app, read, store } = await world()
  const details = failing('web')
  const some = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ event: 'check_failed' as const, target: `lxc:${100 + n}`, details }))
  const time = async (query: string) => {
    const times: number[] = []
    for (let n = 0; n < 15; n += 1) {
      const began = performance.now()
      await read(query)
      times.push(performance.now() - began)
    }
    return times.sort((one, other) => one - other)[3] ?? 0
  }
  for (let id = 1; id <= 100; id += 1) await store(id, some(1))
  await read('?limit=50')
  const few = await time('?limit=50')
  await app.db.script(`
    WITH RECURSIVE n(i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO notices (id, at, event, severity, target) SELECT i, '${AT}', 'check_failed', 'warning', 'lxc:101' FROM n;
    INSERT INTO notification_events (key, at, event, severity, target, details, notice_id)
      SELECT 'n' || id, at, event, severity, target, '{"name":"web","message":null}', id FROM notices WHERE id > 100;`)

  const many = await time('?limit=50')
  for (let id = 10_001; id <= 10_100; id += 1) await store(id, some(200))
  const largest = await time('?limit=100')

  expect((await read('?limit=100')).notices).toHaveLength(100)
  // The quickest quarter of the calls, with room for a busy machine.
  expect(many).toBeLessThan(few * 1.5 + 5)
  expect(largest).toBeLessThan(1_000)
})

test('a notice about the host names it by its address in the settings, without the port', async () => {
  const { app, read, store } = await world()
  await store(1, [{ event: 'reboot_required', target: 'host', details: { name: '', reasons: [] } }])

  expect((await read()).notices).toMatchObject([{ title: 'pve.test : redémarrage requis' }])
  await app.services.settings.change({ ssh_host: 'pve1.example:2222' })
  expect((await read('?language=en')).notices).toMatchObject([{ title: 'pve1.example: reboot required' }])
  await app.services.settings.change({ ssh_host: '127.0.0.1:22' })
  expect((await read()).notices).toMatchObject([{ title: 'Hôte : redémarrage requis' }])
})

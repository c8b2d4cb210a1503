import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runTasks } from '../../runtime/task.ts'
import type { FakeHost } from '../app.ts'
import { answered, audited, auditedActions, refused, rows } from '../functions/answers.ts'
import { appWithModules } from './kit-app.ts'

const EXAMPLE = join(import.meta.dirname, '../../examples/module-hello')
const GREETINGS = '/api/modules/hello/greetings'
const SETTINGS = '/api/modules/hello/settings'

const example = async (fake?: FakeHost) =>
  appWithModules({ hello: await readFile(join(EXAMPLE, 'backend.mjs'), 'utf8') }, fake)

const ok = async (response: Promise<Response>, status = 200) => answered(await response, status)

test('the example greets signed-in users only, with the word of its settings', async () => {
  const { request } = await example()

  await refused(await request('GET', '/api/modules/hello/greeting'), 401, 'unauthenticated')
  const greeting = () => ok(request('GET', '/api/modules/hello/greeting', { as: 'user' }))
  expect(await greeting()).toEqual({ message: 'Bonjour bob.', count: 0 })
  await ok(request('PATCH', SETTINGS, { as: 'admin', body: { word: 'Salut', token: 'swordfish' } }))
  expect(await greeting()).toEqual({ message: 'Salut bob.', count: 0 })
})

test('the example counts and lists greetings, checks their names, and audits nothing', async () => {
  const { request, db } = await example()
  const greet = (body: unknown) => request('POST', GREETINGS, { as: 'user', body })

  const { details } = await refused(await greet({ name: ' ' }), 400, 'invalid_request')
  expect(details).toMatchObject([{ field: 'name' }])
  expect(await ok(greet({ name: 'Zoé' }), 201)).toEqual({ message: 'Bonjour Zoé.', count: 1 })
  expect(await ok(greet({ name: 'Max' }), 201)).toEqual({ message: 'Bonjour Max.', count: 2 })
  const at = '2026-03-01T12:00:00.000Z'
  expect(await ok(request('GET', GREETINGS, { as: 'user' }))).toEqual({
    items: [
      { id: `${at} 000000002`, name: 'Max', at },
      { id: `${at} 000000001`, name: 'Zoé', at },
    ],
  })
  expect(await audited(db)).toEqual([])
})

test('administrators forget a greeting and count from zero, other users do not', async () => {
  const { request } = await example()
  await ok(request('POST', GREETINGS, { as: 'user', body: { name: 'Zoé' } }), 201)
  const path = `${GREETINGS}/${encodeURIComponent('2026-03-01T12:00:00.000Z 000000001')}`

  await ok(request('DELETE', path, { as: 'admin' }))
  await refused(await request('DELETE', path, { as: 'admin' }), 404, 'module_entry_missing')
  expect(await ok(request('GET', GREETINGS, { as: 'user' }))).toEqual({ items: [] })
  await ok(request('POST', '/api/modules/hello/reset', { as: 'admin' }))
  expect(await ok(request('GET', '/api/modules/hello/greeting', { as: 'user' }))).toMatchObject({ count: 0 })
  await refused(await request('PATCH', SETTINGS, { as: 'user', body: { word: 'x' } }), 403, 'forbidden')
})

test('the example keeps as many greetings as its settings say', async () => {
  const { request, services, db } = await example()
  for (const name of ['a', 'b', 'c', 'd']) await ok(request('POST', GREETINGS, { as: 'user', body: { name } }), 201)
  await ok(request('PATCH', SETTINGS, { as: 'admin', body: { keep: 2 } }))

  await runTasks(services.modules.tasks, services)
  const kept = await rows(db, `SELECT json_extract(value, '$.name') AS name FROM module_records ORDER BY id`)
  expect(kept).toEqual([{ name: 'c' }, { name: 'd' }])
  expect(await auditedActions(db)).toEqual(['module_settings_changed'])
})

test('the example shows administrators the uptime of the host, and nobody else', async () => {
  const { request, ran } = await example({ exec: () => ({ stdout: 'up 2 days\n' }) })
  const path = '/api/modules/hello/uptime'

  await refused(await request('GET', path), 401, 'unauthenticated')
  await refused(await request('GET', path, { as: 'user' }), 403, 'forbidden')
  expect(ran).toEqual([])
  expect(await ok(request('GET', path, { as: 'admin' }))).toEqual({ uptime: 'up 2 days' })
  expect(ran).toEqual([{ command: ['uptime', '-p'], rights: 'none' }])
})

test('the example reports the host’s message when a command fails', async () => {
  const { request } = await example({ exec: () => ({ code: 127, stderr: 'not found\n' }) })

  const answer = await request('GET', '/api/modules/hello/uptime', { as: 'admin' })
  expect((await refused(answer, 502, 'ssh_failed')).error).toBe('Erreur SSH : not found')
})

test('the page of the example has facts, two forms, a table and a button', async () => {
  const { services } = await example()

  const { title, sections } = services.modules.pages.get('hello') ?? {}
  expect(title).toEqual({ fr: 'Bonjour', en: 'Hello' })
  expect(sections?.map(({ kind }) => kind)).toEqual(['facts', 'form', 'table', 'action', 'form'])
})

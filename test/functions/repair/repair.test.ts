import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { answered, audited, auditedActions, refused } from '../answers.ts'
import { record, saying, withModules } from '../modules/module.ts'

const PATH = '/api/repair/modules'
const GOOD = record('good', { backend: 'backend.mjs' })
const BROKEN = record('broken', { backend: 'backend.mjs' })
const EMPTY = record('empty', { backend: 'backend.mjs' })

const start = () =>
  withModules([GOOD, BROKEN, EMPTY, record('plain')], {
    files: { 'good/backend.mjs': saying('good', 'oui'), 'broken/backend.mjs': 'throw new Error("does not begin")' },
  })

test('the list reports the problem of each installed module, and the other modules work', async () => {
  const app = await start()

  const list = await answered(await app.request('GET', PATH, { as: 'admin' }), 200)

  expect(list).toMatchObject([
    { id: 'broken', problem: 'load_failed', detail: expect.stringContaining('does not begin') },
    { id: 'empty', problem: 'files_missing', detail: expect.stringContaining('backend.mjs') },
    { id: 'good', problem: null, detail: null, has_backend: true },
    { id: 'plain', problem: null, detail: null, has_backend: false },
  ])
  const word = await app.request('GET', '/api/modules/good/word', { as: 'user' })
  expect(await answered(word, 200)).toEqual({ word: 'oui' })
  await refused(await app.request('GET', '/api/modules/broken/word', { as: 'user' }), 404, 'not_found')
  await refused(await app.request('GET', PATH, { as: 'user' }), 403, 'forbidden')
})

test('without modules and without a forge, there is nothing to repair', async () => {
  const app = await withModules([])

  expect(await answered(await app.request('GET', PATH, { as: 'admin' }), 200)).toEqual([])
})

test('a module is removed with its files and its endpoint at once', async () => {
  const app = await start()

  const removed = await app.request('DELETE', `${PATH}/good`, { as: 'admin' })

  expect(await answered(removed, 200)).toEqual({ message: 'Module « Le module good » supprimé.' })
  await refused(await app.request('GET', '/api/modules/good/word', { as: 'user' }), 404, 'not_found')
  expect(existsSync(join(app.folder, 'good'))).toBe(false)
  expect(existsSync(join(app.folder, 'broken'))).toBe(true)
  await refused(await app.request('DELETE', `${PATH}/good`, { as: 'admin' }), 404, 'module_missing')
  expect(await audited(app.db)).toMatchObject([
    { action: 'module_removed', username: 'alice', target: 'good', details: { version: '1.0.0' } },
  ])
})

test('a broken module, or one without files, can be removed', async () => {
  const app = await start()

  for (const id of ['broken', 'empty'])
    await answered(await app.request('DELETE', `${PATH}/${id}`, { as: 'admin' }), 200)

  expect(await answered(await app.request('GET', PATH, { as: 'admin' }), 200)).toMatchObject([
    { id: 'good' },
    { id: 'plain' },
  ])
})

test('removal is refused for built-in modules, unknown modules and users without the role', async () => {
  const app = await start()

  await refused(await app.request('DELETE', `${PATH}/settings`, { as: 'admin' }), 409, 'core_module')
  await refused(await app.request('DELETE', `${PATH}/..`, { as: 'admin' }), 404, 'not_found')
  await refused(await app.request('DELETE', `${PATH}/%2e%2e`, { as: 'admin' }), 404, 'not_found')
  await refused(await app.request('DELETE', `${PATH}/..%2fgood`, { as: 'admin' }), 404, 'module_missing')
  await refused(await app.request('DELETE', `${PATH}/good`, { as: 'user' }), 403, 'forbidden')
  expect(existsSync(join(app.folder, 'good'))).toBe(true)
  expect(await auditedActions(app.db)).toEqual([])
})

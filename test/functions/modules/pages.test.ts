import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { enableModule, saveModule } from '../../../db/modules.ts'
import { answered, refused } from '../answers.ts'
import { NOW, record, withModules } from './module.ts'

const HOUR = 60 * 60_000
const FILES = ['web/index.html', 'web/app.js', 'web/a b.css', 'web/big.png', 'web/out.txt', 'web/pipe.json']

/** A module with a list for everyone, and a deletion and settings for administrators. */
const CODE = `
const settings = { method: 'PUT', path: '/api/modules/sites/settings', auth: 'admin', audit: false, rateLimit: false }
export default ({ z, defineFunction, definePage }) => [
  defineFunction({
    method: 'GET', path: '/api/modules/sites/list', auth: 'user', targets: 'none', rateLimit: false,
    response: z.array(z.object({ id: z.number(), name: z.string() })),
    handler: () => [{ id: 1, name: 'one' }],
  }),
  defineFunction({
    method: 'DELETE', path: '/api/modules/sites/list/:id', auth: 'admin', audit: false, rateLimit: false,
    request: { params: z.object({ id: z.string() }) }, response: z.object({}), handler: () => ({}),
  }),
  defineFunction({ ...settings, request: { body: z.object({ host: z.string() }) }, response: z.object({}), handler: () => ({}) }),
  definePage({
    title: { fr: 'Sites', en: 'All sites' },
    sections: [
      { kind: 'text', text: 'About' },
      {
        kind: 'table', from: 'GET /api/modules/sites/list', key: 'id', columns: [{ field: 'name', label: 'Name' }],
        actions: [{ label: 'Remove', call: 'DELETE /api/modules/sites/list/:id' }],
      },
      { kind: 'form', call: 'PUT /api/modules/sites/settings' },
    ],
  }),
]
`

const Page = z.object({
  sections: z.array(z.looseObject({ kind: z.string(), actions: z.array(z.unknown()).optional() })),
  frame: z.string().nullable(),
  calls: z.array(z.string()),
})

async function start({
  backend = true,
  files = FILES,
  env = {},
}: {
  backend?: boolean
  files?: string[]
  env?: Record<string, string>
} = {}) {
  const more = { backend: backend ? 'backend.mjs' : null, commit: 'c1', files: JSON.stringify(files) }
  const app = await withModules([record('sites', more), record('plain')], {
    files: {
      'sites/backend.mjs': CODE,
      'sites/web/index.html': '<!doctype html><script src="app.js"></script>',
      'sites/web/app.js': 'let a',
      'sites/web/a b.css': 'p {}',
      'sites/web/secret.js': 'let b',
      'outside.txt': 'a secret',
    },
    env,
  })
  const page = async (as: 'user' | 'admin' = 'user') =>
    Page.parse(await answered(await app.request('GET', '/api/module-pages/sites', { as }), 200))
  return { ...app, page, folder: join(app.folder, 'sites/web') }
}

test('the page of a module has the parts whose endpoints the caller may use', async () => {
  const { page } = await start()

  const [forAdmin, forUser] = [await page('admin'), await page()]
  expect(forAdmin.sections.map(({ kind, actions }) => [kind, actions?.length])).toEqual([
    ['text', undefined],
    ['table', 1],
    ['form', undefined],
  ])
  expect(forAdmin.calls).toEqual([
    'GET /api/modules/sites/list',
    'DELETE /api/modules/sites/list/:id',
    'PUT /api/modules/sites/settings',
  ])
  expect(forUser.sections.map(({ kind, actions }) => [kind, actions?.length])).toEqual([
    ['text', undefined],
    ['table', 0],
  ])
  expect(forUser.calls).toEqual(['GET /api/modules/sites/list'])
})

test('a module without a page, of the panel, unknown or disabled has none', async () => {
  const { request, db } = await start()
  const missing = async (id: string) =>
    refused(await request('GET', `/api/module-pages/${id}`, { as: 'admin' }), 404, 'module_page_missing')

  await missing('plain')
  await missing('settings')
  await missing('other')
  await db.batch([enableModule('sites', false, NOW)])
  await missing('sites')
  await db.batch([enableModule('sites', true, NOW)])
  await answered(await request('GET', '/api/module-pages/sites', { as: 'user' }), 200)
  await refused(await request('GET', '/api/module-pages/sites'), 401, 'unauthenticated')
})

test('a module whose newer code is not loaded yet shows no page', async () => {
  const { request, db } = await start()

  await db.batch([saveModule(record('sites', { backend: 'backend.mjs', commit: 'c2' }), NOW)])
  await refused(await request('GET', '/api/module-pages/sites', { as: 'admin' }), 404, 'module_page_missing')
})

test('a module may bring files and no code', async () => {
  const { page, request } = await start({ backend: false })

  const { frame, sections, calls } = await page()
  expect({ sections, calls }).toEqual({ sections: [], calls: [] })
  expect((await request('GET', frame ?? '')).status).toBe(200)
})

test('the frame of a page is kept apart from the panel by its own policy', async () => {
  const { page, request } = await start()
  const { frame } = await page()

  const response = await request('GET', frame ?? '')
  expect(await response.text()).toBe('<!doctype html><script src="app.js"></script>')
  const headers = Object.fromEntries(response.headers)
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-frame-options': 'SAMEORIGIN',
  })
  expect(headers['content-security-policy']?.split('; ')).toEqual([
    'sandbox allow-scripts allow-forms',
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ])
  expect(headers).not.toHaveProperty('set-cookie')
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
})

test('only files on record are sent, never one from outside of the folder, a large one or another kind of file', async () => {
  const { page, request, folder } = await start()
  const { frame } = await page()
  const at = (name: string) => (frame ?? '').replace(/[^/]+$/, name)
  const none = async (name: string) => refused(await request('GET', at(name)), 404, 'not_found')

  expect((await request('GET', at('app.js'))).headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  expect((await request('GET', at('a%20b.css'))).headers.get('content-type')).toBe('text/css; charset=utf-8')
  await none('secret.js')
  await none('..%2fbackend.mjs')
  await none('%2e%2e/backend.mjs')
  await none('big.png')
  await writeFile(join(folder, 'big.png'), '')
  expect((await request('GET', at('big.png'))).headers.get('content-type')).toBe('image/png')
  await truncate(join(folder, 'big.png'), 5 * 1024 * 1024 + 1)
  await none('big.png')
  await symlink('../../outside.txt', join(folder, 'out.txt'))
  await none('out.txt')
  await rm(join(folder, 'out.txt'))
  await symlink('app.js', join(folder, 'out.txt'))
  expect((await request('GET', at('out.txt'))).headers.get('content-type')).toBe('text/plain; charset=utf-8')
  await mkdir(join(folder, 'pipe.json'))
  await none('pipe.json')
})

test('bytes that are no text arrive unchanged', async () => {
  const { page, request, folder } = await start()
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n))
  await writeFile(join(folder, 'big.png'), bytes)

  const response = await request('GET', ((await page()).frame ?? '').replace(/[^/]+$/, 'big.png'))
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
})

test('a ticket lasts an hour at most, for this installation of this module alone', async () => {
  const { page, request, db, advance } = await start()
  const { frame } = await page()
  const [, ticket = ''] = /\/sites\/([^/]+)\//.exec(frame ?? '') ?? []
  const found = async (given: string) =>
    (await request('GET', `/api/module-pages/sites/${given}/web/index.html`)).status === 200

  expect(await found(ticket)).toBe(true)
  const [expires = '', mark = ''] = ticket.split('.')
  const later = (Number.parseInt(expires, 36) + HOUR).toString(36)
  expect(await found(`${later}.${mark}`)).toBe(false)
  expect(await found(`${expires}.${mark.slice(0, -1)}`)).toBe(false)
  expect(await found(`${expires}.`)).toBe(false)
  expect(await found(`.${mark}`)).toBe(false)
  expect(await found(`${expires}.${'A'.repeat(22)}`)).toBe(false)
  await db.batch([saveModule(record('plain', { files: JSON.stringify(FILES) }), NOW)])
  await refused(await request('GET', `/api/module-pages/plain/${ticket}/web/index.html`), 404, 'not_found')

  advance(HOUR / 2 - 1)
  expect(await found(ticket)).toBe(true)
  advance(HOUR / 2 + 1)
  expect(await found(ticket)).toBe(false)
  expect((await page()).frame).not.toBe(frame)

  const newer = (await page()).frame?.split('/')[4] ?? ''
  expect(await found(newer)).toBe(true)
  await db.batch([saveModule(record('sites', { commit: 'c2', files: JSON.stringify(FILES) }), NOW)])
  expect(await found(newer)).toBe(false)
})

test('a disabled module sends no files', async () => {
  const { page, request, db } = await start()
  const { frame } = await page()

  await db.batch([enableModule('sites', false, '2026-03-01T12:00:00.000Z')])
  await refused(await request('GET', frame ?? ''), 404, 'not_found')
})

test('a service without the panel has no frames', async () => {
  const { page, request } = await start({ env: { PANEL_UI: 'off' } })

  expect((await page()).frame).toBeNull()
  await refused(await request('GET', '/api/module-pages/sites/x/web/index.html'), 404, 'not_found')
})

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '../../db/libsql/client.ts'
import { migrate } from '../../db/migrate.ts'
import { type NewModule, saveModule } from '../../db/modules.ts'
import type { TestForge } from '../forge.ts'
import { LFS_POINTER } from '../forge-repository.ts'
import { NOW, record, writeFiles } from '../functions/modules/module.ts'
import type { VersionedForge } from '../functions/releases/versioned-forge.ts'

/** A word without a place to break it, as long as the id of a module may be. */
export const LONG_ID = `lastenausgleichsgesetzdurchfuehrungsverordnung-${'x'.repeat(16)}`
const LONG_NAME = 'LastenausgleichsgesetzdurchführungsverordnungUndNochEinWeniges'
const SENTENCE = 'Watches what it is told to watch, and says at some length what it has found there. '

const WATCH = `const rows = Array.from({ length: 12 }, (_, n) => ({
  id: n, name: ['blog', 'shop', 'wiki', '${LONG_NAME}'][n % 4] + '-' + n, size: 2048 ** (n % 4), state: ['running', 'failed', 'pending', 'stopped', 'busy', 'odd'][n % 6],
  seen: '2026-03-0' + (1 + n % 9) + 'T12:00:00.000Z', link: n % 2 ? 'https://example.com/' + 'path/'.repeat(n) : '/containers',
  code: 'a1b2c3d4e5f6'.repeat(1 + n % 3), up: n * 100000, note: n % 3 ? '' : 'A note of some length about this one, which nobody has shortened.',
}))
const read = { method: 'GET', auth: 'user', targets: 'none', rateLimit: false }
const write = { auth: 'operator', rateLimit: false, audit: false }
export default ({ z, defineFunction, definePage, defineSettings }) => [
  defineFunction({ ...read, path: '/api/modules/watch/list', response: z.object({ items: z.array(z.looseObject({ id: z.number(), name: z.string(), size: z.number(), state: z.string(), seen: z.string(), link: z.string(), code: z.string(), up: z.number(), note: z.string() })) }), handler: () => ({ items: rows }) }),
  defineFunction({ ...read, path: '/api/modules/watch/one', response: z.object({ name: z.string(), state: z.string(), size: z.number(), link: z.string(), code: z.string() }), handler: () => ({ ...rows[3], name: rows[7].name }) }),
  defineFunction({ ...read, path: '/api/modules/watch/none', response: z.array(z.object({ id: z.number() })), handler: () => [] }),
  defineFunction({ ...read, path: '/api/modules/watch/broken', response: z.array(z.object({ id: z.number() })), handler: () => { throw new Error('nobody is to see this') } }),
  defineFunction({ ...write, method: 'POST', path: '/api/modules/watch/list/:id', request: { params: z.object({ id: z.coerce.string() }) }, response: z.object({ message: z.string() }), handler: ({ params }) => ({ message: 'Checked ' + params.id + '. ' + '${SENTENCE}' }) }),
  defineFunction({ ...write, method: 'DELETE', path: '/api/modules/watch/list/:id', request: { params: z.object({ id: z.coerce.string() }) }, response: z.object({}), errors: ['not_found'], handler: (_, { fail }) => { throw fail('not_found') } }),
  defineFunction({ ...write, method: 'POST', path: '/api/modules/watch/all', response: z.object({ message: z.string() }), handler: () => ({ message: '${SENTENCE.repeat(2)}' }) }),
  defineFunction({ ...write, method: 'POST', path: '/api/modules/watch/fail', response: z.object({}), errors: ['not_found'], handler: (_, { fail }) => { throw fail('not_found') } }),
  defineSettings({
    fields: z.object({
      address: z.string().min(1).default('https://example.com').meta({ title: 'Address', description: '${SENTENCE}' }),
      every: z.int().min(5).max(3600).default(60).meta({ title: 'Seconds between two looks at each of the sites' }),
      mode: z.enum(['fast', 'careful']).default('fast').meta({ title: 'Mode' }),
      alarm: z.boolean().default(true).meta({ title: 'Tell when a site is down' }),
      token: z.string().meta({ title: 'Token' }),
    }),
    secrets: ['token'],
  }),
  definePage({
    title: { fr: 'Surveillance', en: 'Watch' },
    sections: [
      { kind: 'text', text: { fr: 'Ce que le module surveille. ' + '${SENTENCE}', en: '${SENTENCE.repeat(2)}' } },
      { kind: 'facts', title: { fr: 'En bref', en: 'In short' }, from: 'GET /api/modules/watch/one', fields: [
        { field: 'name', label: { fr: 'Premier', en: 'First' } }, { field: 'state', label: { fr: 'État', en: 'State' }, as: 'status' },
        { field: 'size', label: { fr: 'Taille', en: 'Size' }, as: 'bytes' }, { field: 'link', label: 'A label of some length for a link', as: 'link' }, { field: 'code', label: 'Code', as: 'code' } ] },
      { kind: 'table', title: { fr: 'Sites', en: 'Sites' }, from: 'GET /api/modules/watch/list', rows: 'items', key: 'id',
        columns: [{ field: 'name', label: 'Name' }, { field: 'state', label: { fr: 'État', en: 'State' }, as: 'status' }, { field: 'size', label: { fr: 'Taille', en: 'Size' }, as: 'bytes' }, { field: 'seen', label: { fr: 'Vu', en: 'Seen' }, as: 'time' }],
        actions: [{ label: { fr: 'Vérifier', en: 'Check' }, call: 'POST /api/modules/watch/list/:id' }, { label: { fr: 'Supprimer', en: 'Remove' }, call: 'DELETE /api/modules/watch/list/:id', confirm: { fr: 'Vraiment\u202f?', en: 'Really?' }, danger: true }] },
      { kind: 'table', title: { fr: 'Tout', en: 'Everything' }, from: 'GET /api/modules/watch/list', rows: 'items', key: 'id',
        columns: ['name', 'state', 'size', 'seen', 'link', 'code', 'up', 'note'].map((field) => ({ field, label: field, ...({ state: { as: 'status' }, size: { as: 'bytes' }, seen: { as: 'time' }, link: { as: 'link' }, code: { as: 'code' }, up: { as: 'duration' } })[field] })) },
      { kind: 'table', title: { fr: 'Rien', en: 'Nothing' }, from: 'GET /api/modules/watch/none', key: 'id', columns: [{ field: 'id', label: 'Id' }] },
      { kind: 'table', title: { fr: 'En panne', en: 'Broken' }, from: 'GET /api/modules/watch/broken', key: 'id', columns: [{ field: 'id', label: 'Id' }] },
      { kind: 'action', label: { fr: 'Tout vérifier', en: 'Check everything' }, help: '${SENTENCE}', call: 'POST /api/modules/watch/all' },
      { kind: 'action', label: { fr: 'Tout effacer', en: 'Forget everything' }, call: 'POST /api/modules/watch/fail', danger: true },
    ],
  }),
]`

/** A page that tells its height, and takes the colours of the panel. */
const FRAMED = {
  'web/index.html':
    '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="app.css"><h2>A page of its own</h2><p id="told"></p><button>Grow</button><script src="app.js"></script>',
  'web/app.css':
    'body { margin: 0; padding: 16px; font: 14px sans-serif; background: var(--surface); color: var(--text) }',
  'web/app.js': `const told = document.querySelector('#told')
const tellHeight = () => parent.postMessage({ panel: 1, height: document.documentElement.offsetHeight }, '*')
addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.panel !== 1 || !data.colors) return
  for (const [name, value] of Object.entries(data.colors)) document.documentElement.style.setProperty(name, value)
  told.textContent = data.theme + ' ' + data.language
  tellHeight()
})
document.querySelector('button').addEventListener('click', () => {
  document.body.append(Object.assign(document.createElement('p'), { textContent: 'more', style: 'height: 400px' }))
  tellHeight()
})
tellHeight()`,
}

interface Installed extends Partial<NewModule> {
  id: string
  code?: string
  pageFiles?: Readonly<Record<string, string>>
  /** Whether its files are missing. */
  isLost?: true
}

/** Modules in every state, among many: one with all kinds of sections, a frame, long names, a newer release, faults. */
export async function moduleWorld(
  { forge, push, tag, publish }: VersionedForge,
  data: string,
): Promise<Record<string, string>> {
  const commits = offered({ push, tag, publish, forge })
  const of = (id: string) => ({ repository: `${forge.url}/${forge.org}/${id}`, commit: commits.get(id) ?? null })
  const nav = (id: string, label: string, icon: string | null, order: number) => ({
    nav_label: label,
    nav_icon: icon,
    nav_href: `/modules/${id}`,
    nav_order: order,
  })
  const installed: Installed[] = [
    {
      id: 'watch',
      name: 'Watch',
      description: SENTENCE,
      code: WATCH,
      ...of('watch'),
      ...nav('watch', 'Watch', 'activity', 5),
    },
    { id: 'framed', name: 'Framed', pageFiles: FRAMED, ...of('framed'), ...nav('framed', 'Framed', 'globe', 6) },
    {
      id: LONG_ID,
      name: LONG_NAME,
      description: SENTENCE.repeat(4),
      version: '2025.10.31-rc.1+build.20251031',
      ...of(LONG_ID),
      ...nav(LONG_ID, LONG_NAME, 'puzzle', 7),
    },
    { id: 'older', name: 'Older', version: '1.0.0', ...of('older') },
    { id: 'gone', name: 'Gone', repository: `${forge.url}/${forge.org}/gone`, commit: 'a'.repeat(40) },
    { id: 'lost', name: 'Lost', ...of('lost'), files: '["web/index.html"]', isLost: true },
    { id: 'wrong', name: 'Wrong', ...of('wrong'), code: 'export default () => [{ kind: "function" }]' },
    { id: 'looping', name: 'Looping', ...of('looping'), code: 'export default () => []' },
    { id: 'resting', name: 'Resting', ...of('resting') },
    { id: 'bare', name: 'Bare', code: 'export default () => []', ...nav('bare', 'Bare', null, 8) },
    ...Array.from({ length: 5 }, (_, n) => ({ id: `small-${n}`, name: `Small ${n}`, ...of(`small-${n}`) })),
  ]
  const folder = join(data, 'node_modules')
  await mkdir(folder)
  const db = await openDatabase(`file:${data}/panel.db`)
  await migrate(db, new Date(NOW))
  for (const { code, pageFiles = {}, isLost, ...more } of installed) {
    const names = { backend: code === undefined ? null : 'backend.mjs', files: JSON.stringify(Object.keys(pageFiles)) }
    await db.batch([saveModule(record(more.id, { ...names, ...more }), NOW)])
    if (!isLost) await writeFiles(`${folder}/${more.id}`, { ...pageFiles, ...(code && { 'backend.mjs': code }) })
  }
  const fault = 'Son code a bloqué le service pendant plus de 15 s (backend.mjs:212:17), et a été mis à l’écart.'
  const previous = JSON.stringify({ version: '0.9.0', commit: commits.get('older 0.9.0'), tag: 'v0.9.0' })
  await db.batch([
    { sql: `UPDATE modules SET fault = ?1, fault_at = ?2 WHERE id = 'looping'`, args: [fault, NOW] },
    { sql: `UPDATE modules SET is_enabled = 0 WHERE id = 'resting'`, args: [] },
    { sql: `UPDATE modules SET previous = ?1 WHERE id = 'older'`, args: [previous] },
  ])
  await db.close()
  return {
    PANEL_DATA_DIR: data,
    PANEL_MODULES_DIR: folder,
    PANEL_DEPLOYER: 'none',
    PANEL_FORGE_URL: forge.url,
    PANEL_FORGE_ORG: forge.org,
  }
}

/** Fills the forge. Returns the commits of the installed modules by id. */
function offered({
  forge,
  push,
  tag,
  publish,
}: Pick<VersionedForge, 'push' | 'tag' | 'publish'> & { forge: TestForge }) {
  const commits = new Map<string, string>()
  const described = (id: string, version: string, more: object = {}) => ({
    'module.json': JSON.stringify({ id, name: id, version, description: SENTENCE, ...more }),
  })
  for (const id of [
    'watch',
    'framed',
    'lost',
    'wrong',
    'looping',
    'resting',
    ...Array.from({ length: 5 }, (_, n) => `small-${n}`),
  ])
    commits.set(id, push(id, described(id, '1.0.0')))
  commits.set(LONG_ID, push(LONG_ID, described(LONG_ID, '2025.10.31-rc.1+build.20251031')))
  commits.set('older 0.9.0', push('older', described('older', '0.9.0')))
  commits.set('older', push('older', described('older', '1.0.0'), { title: 'One dot zero' }))
  tag('older', 'v1.0.0', commits.get('older'))
  publish('older', 'v1.0.0', { name: 'The first that counts', body: `${SENTENCE}\n\n- one\n- two` })
  push(
    'older',
    { ...described('older', '1.1.0'), 'web/app.js': 'x', [`web/${LONG_NAME}.css`]: 'x' },
    { title: SENTENCE.repeat(2) },
  )
  const newest = push('older', described('older', '2.0.0', { has_backend: true }), { title: 'Gets code' })
  tag('older', 'v2.0.0-beta', newest)
  publish('older', 'v2.0.0-beta', { name: LONG_NAME, prerelease: true })
  for (let n = 0; n < 60; n += 1)
    push(`tool-${n}`, described(`tool-${n}`, `1.${n}.0`, { name: `Tool ${n}`, has_backend: n % 3 === 0 }))
  const named = (name: string, about: object) =>
    push(name, described(name, '1.0.0', { name: `${name} ${LONG_NAME}`, has_backend: true }), { about })
  named('a-fork', { forkOf: `https://forge.example/${LONG_ID}/${LONG_ID}` })
  named('a-mirror', { mirrorOf: 'https://forge.example/other/mirror' })
  named('a-private-one', { private: true })
  for (let n = 0; n < 30; n += 1) forge.put({ name: `archived-${n}`, archived: true, branches: {} })
  forge.put({ name: 'empty', empty: true, branches: {} })
  forge.put({ name: 'issues-only', hasCode: false, branches: {} })
  forge.put({ name: 'Bad_Name', branches: { main: { files: {} } } })
  push(LONG_ID.slice(0, -1), {})
  push('pointer', { 'module.json': LFS_POINTER })
  push('linked', { 'module.json': { link: 'other.json' } })
  push('nameless', { 'module.json': '{"id":"nameless"}' })
  return commits
}

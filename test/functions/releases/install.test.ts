import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { functions } from '../../../functions/index.ts'
import { createDeployer } from '../../../modules/deploy/deployer.ts'
import { mount } from '../../app.ts'
import { answered, audited, auditedActions, refused, rows } from '../answers.ts'
import { typeCommand } from '../console.ts'
import { record, temporaryFolder, withModules, writeFiles } from '../modules/module.ts'
import { pageFiles, UNKNOWN, versionedForge } from './versioned-forge.ts'

const PATH = '/api/registry/modules/notes/install'

async function start(modules: Parameters<typeof withModules>[0] = []) {
  const on = await versionedForge()
  const app = await withModules(modules, { env: { PANEL_FORGE_URL: on.forge.url, PANEL_FORGE_ORG: on.forge.org } })
  const instance = { id: 'this', isGone: async () => false, runs: async () => true }
  const deployer = createDeployer({ ...app.services, folder: app.folder, instance }, {})
  const { request } = mount(functions, { ...app.services, deployer })
  const headers = { authorization: `Bearer ${await app.tokenFor('admin')}`, 'content-type': 'application/json' }
  const post = (body: object) => request(PATH, { method: 'POST', headers, body: JSON.stringify(body) })
  return {
    ...app,
    on,
    post,
    /** Installs, waits for the end, and returns the record. */
    async install(body: object) {
      await answered(await post(body), 202)
      await deployer.idle()
      const [row] = await rows(app.db, `SELECT version, "commit", tag, previous FROM modules WHERE id = 'notes'`)
      return { ...row, previous: JSON.parse(String(row?.previous ?? null)) }
    },
    inFolder: async () =>
      existsSync(join(app.folder, 'notes')) ? (await readdir(join(app.folder, 'notes'))).sort() : [],
    text: (name: string) => readFile(join(app.folder, 'notes', name), 'utf8'),
  }
}

const page = (version: string, text = version) =>
  pageFiles('notes', version, { 'index.html': text, 'js/page.js': text })

test('a module with a page and no code is in place without a restart, with the files of its commit alone', async () => {
  const app = await start()
  const first = app.on.push('notes', { ...page('1.0.0'), 'README.md': 'words' })

  expect(await app.install({ commit: first })).toEqual({ version: '1.0.0', commit: first, tag: null, previous: null })

  expect(await app.inFolder()).toEqual(['.release', 'index.html', 'js', 'module.json'])
  expect([await app.text('index.html'), await app.text('js/page.js')]).toEqual(['1.0.0', '1.0.0'])
  expect(await rows(app.db, 'SELECT state, log FROM deployments')).toEqual([
    { state: 'done', log: expect.stringContaining('Le module est en place.') },
  ])
  expect((await readdir(app.folder)).sort()).toEqual(['.place', 'notes'])
  expect(await audited(app.db)).toMatchObject([{ action: 'module_installed', details: { commit: first } }])
})

test('a tag is installed as long as it points at the commit that was shown', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1.0.0'))
  const second = app.on.push('notes', page('2.0.0'))
  app.on.tag('notes', 'release/v1.0.0', first)

  expect(await app.install({ commit: first, tag: 'release/v1.0.0' })).toMatchObject({
    version: '1.0.0',
    commit: first,
    tag: 'release/v1.0.0',
  })
  expect(await audited(app.db)).toMatchObject([{ details: { commit: first, tag: 'release/v1.0.0' } }])
  app.on.tag('notes', 'release/v1.0.0', second)
  const { error } = await refused(await app.post({ commit: first, tag: 'release/v1.0.0' }), 409, 'commit_changed')
  expect(error).toContain(second)
  await refused(await app.post({ commit: second, tag: 'v9' }), 404, 'tag_missing')
  for (const tag of [
    '',
    '../x',
    'a b',
    'a..b',
    '.a',
    'a/.b',
    'a//b',
    '/a',
    'a/',
    'a.',
    'a.lock',
    'b.lock/c',
    '@',
    'a@{1}',
    'a~1',
    'a\\b',
    'a\u200bb',
    'a\u034fb',
    'a\ufe0f',
    '\u3164',
    'a\u2800b',
    '\ud800',
  ])
    await refused(await app.post({ commit: second, tag }), 400, 'invalid_request')
  expect(await app.text('index.html')).toBe('1.0.0')
})

test('the previous release returns by one request, and goes back again by another', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1.0.0'))
  app.on.tag('notes', 'v1', first)
  await app.install({ commit: first, tag: 'v1' })
  const second = app.on.push('notes', page('2.0.0'))
  const updated = await app.install({ commit: second })
  expect(updated.previous).toEqual({ version: '1.0.0', commit: first, tag: 'v1' })

  await refused(await app.post({ previous: true, commit: second }), 409, 'commit_changed')
  const returned = await app.install({ previous: true, commit: first })

  expect(returned).toEqual({
    version: '1.0.0',
    commit: first,
    tag: 'v1',
    previous: { version: '2.0.0', commit: second, tag: null },
  })
  expect(await app.text('js/page.js')).toBe('1.0.0')
  expect(await app.install({ previous: true, commit: second })).toMatchObject({ version: '2.0.0' })
  app.on.forget(first)
  await refused(await app.post({ previous: true, commit: first }), 404, 'commit_missing')
  expect(await app.text('js/page.js')).toBe('2.0.0')
})

test('the files of the recorded commit are fetched again although the branch has gone on', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1.0.0'))
  await app.install({ commit: first })
  const second = app.on.push('notes', page('2.0.0'), { onto: null })

  await refused(await app.post({ commit: first }), 409, 'commit_changed')
  await refused(await app.post({ commit: second, pinned: true }), 409, 'commit_changed')

  expect(await app.install({ commit: first, pinned: true })).toMatchObject({ commit: first, previous: null })
  expect(await app.text('index.html')).toBe('1.0.0')
})

test('the previous release and the recorded one come from the repository on record alone', async () => {
  const elsewhere = 'https://forge.example/modules/notes'
  const on = await versionedForge()
  const commit = on.push('notes', page('1.0.0'))
  const app = await start([record('notes', { repository: elsewhere, commit: UNKNOWN })])
  app.on.push('notes', page('1.0.0'))
  await app.db.run(
    `UPDATE modules SET "commit" = ?1, previous = json_object('version', '1', 'commit', ?1, 'tag', NULL)`,
    [commit],
  )

  for (const body of [
    { previous: true, commit },
    { pinned: true, commit },
  ]) {
    const { error } = await refused(await app.post(body), 409, 'other_repository')
    expect(error).toContain(elsewhere)
    expect(error).toContain(`${app.on.forge.url}/${app.on.forge.org}/notes`)
  }

  expect(await app.inFolder()).toEqual([])
  expect(await auditedActions(app.db)).toEqual([])
})

test('the recorded release of a repository that is archived by now is still fetched', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1.0.0'))
  await app.install({ commit: first })
  app.on.forge.put({ name: 'notes', archived: true, branches: { main: { files: page('1.0.0') } } })

  await refused(await app.post({ commit: first }), 404, 'repository_missing')
  expect(await app.install({ commit: first, pinned: true })).toMatchObject({ commit: first })
})

test('a module that is changed on the console while the forge is read is not installed over the change', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1.0.0'))
  await app.install({ commit: first })
  const second = app.on.push('notes', page('2.0.0'))
  const answer = app.on.forge.behave
  const console = { ...app.services, secrets: app.secrets }
  let disabled: Promise<unknown> | undefined
  app.on.forge.behave = async (request, response) => {
    if (request.url?.includes('/raw/')) {
      disabled ??= typeCommand(console, ['modules', 'disable', 'notes'])
      await disabled
    }
    return (await answer?.(request, response)) ?? false
  }

  await refused(await app.post({ commit: second }), 409, 'module_busy')

  expect(await auditedActions(app.db)).toEqual(['module_installed', 'module_disabled'])
  expect(await rows(app.db, `SELECT version, is_enabled FROM modules WHERE id = 'notes'`)).toEqual([
    { version: '1.0.0', is_enabled: 0 },
  ])
  expect(await app.text('index.html')).toBe('1.0.0')
  expect(await app.install({ commit: second })).toMatchObject({ version: '2.0.0' })
})

test('an installation from a folder leaves no previous release, and is none itself', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1.0.0'))
  await app.install({ commit: first })
  const second = app.on.push('notes', page('2.0.0'))
  expect((await app.install({ commit: second })).previous).toMatchObject({ commit: first })
  const folder = await temporaryFolder()
  await writeFiles(folder, { 'module.json': JSON.stringify({ id: 'notes', name: 'notes', version: '3' }) })

  await typeCommand({ ...app.services, secrets: app.secrets }, ['modules', 'install', folder])

  const previous = async () => (await rows(app.db, `SELECT previous FROM modules WHERE id = 'notes'`))[0]?.previous
  expect(JSON.parse(String(await previous()))).toMatchObject({ version: '2.0.0', commit: second })
  expect(await app.install({ commit: second })).toMatchObject({ version: '2.0.0', previous: null })
})

test('no release can be chosen that the record does not know, nor in two ways at once', async () => {
  const app = await start([record('notes')])
  const first = app.on.push('notes', page('1.0.0'))

  await refused(await app.post({ previous: true, commit: first }), 409, 'release_unknown')
  await refused(await app.post({ pinned: true, commit: first }), 409, 'release_unknown')
  for (const body of [{ previous: true }, { tag: 'v1', pinned: true, commit: first }])
    await refused(await app.post(body), 409, 'release_unknown')
  await refused(await app.post({ tag: 'v1' }), 404, 'tag_missing')
  expect(await auditedActions(app.db)).toEqual([])
})

test('every file that cannot be installed is named before anything begins', async () => {
  const app = await start()
  const files = {
    'index.html': 'page',
    'absent.js': '',
    'link.css': { link: 'elsewhere' },
    'big.json': Buffer.alloc(5 * 1024 * 1024 + 1),
    'pointer.png': 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n',
  }
  const { 'absent.js': _, ...there } = pageFiles('notes', '1.0.0', files, { has_backend: true, backend: 'code.mjs' })
  const commit = app.on.push('notes', { ...there, 'code.mjs': Buffer.alloc(5 * 1024 * 1024 + 1) })

  const { details } = await refused(await app.post({ commit }), 422, 'invalid_files')

  expect(details).toEqual([
    { field: 'absent.js', message: 'n’existe pas à ce commit' },
    { field: 'big.json', message: 'dépasse 5 Mio' },
    { field: 'code.mjs', message: 'dépasse 5 Mio' },
    { field: 'link.css', message: 'est un lien symbolique' },
    { field: 'pointer.png', message: 'est un pointeur Git LFS : le fichier lui-même n’est pas dans le dépôt' },
  ])
  expect(await rows(app.db, 'SELECT id FROM deployments')).toEqual([])
  expect(await auditedActions(app.db)).toEqual([])
})

test('files of a page that are too large together are refused, although each of them is not', async () => {
  const app = await start()
  const of = (bytes: number) =>
    Object.fromEntries(['a.html', 'b.js', 'c.js'].map((name) => [name, Buffer.alloc(bytes)]))
  const commit = app.on.push('notes', pageFiles('notes', '1.0.0', of(4 * 1024 * 1024)))

  const { details } = await refused(await app.post({ commit }), 422, 'invalid_files')

  expect(details).toMatchObject([{ message: 'les fichiers de la page dépassent 10 Mio ensemble' }])
  const smaller = app.on.push('notes', pageFiles('notes', '1.0.1', of(3 * 1024 * 1024)))
  expect(await app.install({ commit: smaller })).toMatchObject({ version: '1.0.1' })
})

test('a branch that is named like the chosen commit does not replace its files', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1.0.0', 'good'))
  const second = app.on.push('notes', page('2.0.0'))
  app.on.tag('notes', 'v1', first)
  app.on.pretend('notes', first, page('1.0.0', 'bad'))

  const { details } = await refused(await app.post({ commit: first, tag: 'v1' }), 422, 'invalid_files')

  expect(details).toEqual([
    { field: 'index.html', message: `la forge n’envoie pas le fichier du commit ${first}` },
    { field: 'js/page.js', message: `la forge n’envoie pas le fichier du commit ${first}` },
  ])
  expect(await app.install({ commit: second })).toMatchObject({ version: '2.0.0' })
  expect([await app.text('index.html'), await app.text('js/page.js')]).toEqual(['2.0.0', '2.0.0'])
})

test('a module with code is refused where the service cannot restart itself, and its page alone is not put in place', async () => {
  const app = await start()
  const files = pageFiles('notes', '1.0.0', { 'index.html': 'x' }, { has_backend: true })
  const commit = app.on.push('notes', { ...files, 'backend.mjs': 'export default () => []' })

  await refused(await app.post({ commit }), 503, 'deployer_missing')

  expect(await app.inFolder()).toEqual([])
  expect(await auditedActions(app.db)).toEqual([])
})

test('a descriptor that is invalid at the chosen commit is refused with its reason', async () => {
  const app = await start()
  const bad = app.on.push('notes', { 'module.json': '{"id":"other","name":"x","version":"1"}' })
  const none = app.on.push('notes', { 'README.md': '' })
  app.on.tag('notes', 'bad', bad)
  app.on.tag('notes', 'none', none)
  app.on.tag('notes', 'gone', UNKNOWN)

  const wrong = await refused(await app.post({ commit: bad, tag: 'bad' }), 422, 'invalid_descriptor')
  expect(wrong.details).toEqual([{ field: 'id', message: expect.stringContaining('nom du dépôt') }])
  const empty = await refused(await app.post({ commit: none, tag: 'none' }), 422, 'invalid_descriptor')
  expect(empty.details).toEqual([{ field: '', message: expect.stringContaining('module.json') }])
  await refused(await app.post({ commit: UNKNOWN, tag: 'gone' }), 404, 'commit_missing')
})

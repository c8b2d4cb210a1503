import { fail } from '../../../functions/services.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { functions } from '../../../functions/index.ts'
import type { Deployer } from '../../../modules/deploy/deployer.ts'
import { mount, START } from '../../app.ts'
import { type Behaviour, type TestForge, testForge } from '../../forge.ts'
import { answered, audited, auditedActions, refused, rows } from '../answers.ts'
import { record, saying, withModules } from '../modules/module.ts'

const LIST = '/api/registry/modules'
/** The list of a forge that was never read. */
const NOTHING = { modules: [], error: null, left: [], reading: false, progress: null, read_at: null }
const install = (id: string) => `${LIST}/${id}/install`

const descriptor = (id: string, more: object = {}) => ({ id, name: `Le module ${id}`, version: '1.2.0', ...more })

const repository = (id: string, more: object = {}, files: Record<string, string> = {}) => ({
  name: id,
  description: 'Un dépôt.',
  branches: { main: { files: { 'module.json': JSON.stringify(descriptor(id, more)), ...files } } },
})

const settings = (forge: TestForge) => ({ PANEL_FORGE_URL: forge.url, PANEL_FORGE_ORG: forge.org })

async function start(modules: Parameters<typeof withModules>[0] = []) {
  const forge = await testForge()
  return { forge, ...(await withModules(modules, { env: settings(forge) })) }
}

test('the list of the forge’s modules includes the installed version of each', async () => {
  const app = await start([record('a', { version: '1.0.0' })])
  app.forge.put(repository('a', { description: 'Ce qu’il fait.', has_backend: true }))
  app.forge.put(repository('b'))
  app.forge.put({ name: 'no-module', branches: { main: { files: { 'README.md': '' } } } })
  await answered(await app.request('POST', '/api/modules/a/disable', { as: 'admin' }), 200)

  const list = await answered(await app.request('GET', LIST, { as: 'admin' }), 200)

  expect(list).toEqual({
    modules: [
      {
        id: 'a',
        name: 'Le module a',
        description: 'Ce qu’il fait.',
        version: '1.2.0',
        has_backend: true,
        repository: `${app.forge.url}/${app.forge.org}/a`,
        commit: app.forge.tip('a', 'main'),
        updated_at: expect.stringMatching(/^\d{4}-/),
        is_fork: false,
        is_mirror: false,
        is_private: false,
        origin: '',
        installed: true,
        installed_version: '1.0.0',
        is_enabled: false,
      },
      expect.objectContaining({
        id: 'b',
        description: 'Un dépôt.',
        has_backend: false,
        installed: false,
        installed_version: null,
      }),
    ],
    error: null,
    left: [
      {
        code: 'no_descriptor',
        reason: 'n’a pas de module.json',
        count: 1,
        repositories: [{ name: 'no-module', detail: null }],
      },
    ],
    reading: false,
    progress: null,
    read_at: START.toISOString(),
  })
  await refused(await app.request('GET', LIST, { as: 'user' }), 403, 'forbidden')
})

test('the forge is asked at most once a minute, in the background, unless a refresh is requested', async () => {
  const app = await start()
  app.forge.put(repository('a'))
  const names = async (path = LIST) => {
    const list = await answered(await app.request('GET', path, { as: 'admin' }), 200)
    return JSON.stringify(list).match(/"id":"\w+"/g)
  }

  expect(await names()).toEqual(['"id":"a"'])
  app.forge.put(repository('b'))
  const asked = app.forge.requests.length
  expect(await names()).toEqual(['"id":"a"'])
  expect(app.forge.requests).toHaveLength(asked)
  expect(await names(`${LIST}?refresh=1`)).toEqual(['"id":"a"', '"id":"b"'])
  app.forge.remove('a')
  app.advance(60_000)
  expect(await names()).toEqual(['"id":"a"', '"id":"b"'])
  await expect.poll(() => names()).toEqual(['"id":"b"'])
})

test('an unreachable forge is reported, removes no module, and needs no repair', async () => {
  const app = await start([record('a', { repository: 'https://forge.example/modules/a', commit: 'c' })])
  app.forge.put(repository('a'))
  await answered(await app.request('GET', LIST, { as: 'admin' }), 200)
  await app.forge.close()

  const list = await answered(await app.request('GET', `${LIST}?refresh=1`, { as: 'admin' }), 200)

  expect(list).toMatchObject({
    modules: [{ id: 'a' }],
    error: expect.stringMatching(/^La forge ne peut pas être lue : /),
  })
  app.advance(60_000)
  const repair = await answered(await app.request('GET', '/api/repair/modules', { as: 'admin' }), 200)
  expect(repair).toMatchObject([{ id: 'a', problem: null }])
  await refused(await app.request('POST', install('a'), { as: 'admin' }), 502, 'forge_failed')
  expect(await auditedActions(app.db)).toEqual([])
})

test('repositories that the forge fails to return stay listed, with the error', async () => {
  const app = await start()
  app.forge.put(repository('a'))
  app.forge.put(repository('b'))
  await answered(await app.request('GET', LIST, { as: 'admin' }), 200)
  app.forge.behave = ({ url }, response) =>
    url?.includes('/a/branches/') === true && Boolean(response.writeHead(502).end('Bad gateway'))

  const list = await answered(await app.request('GET', `${LIST}?refresh=1`, { as: 'admin' }), 200)

  expect(list).toMatchObject({
    modules: [{ id: 'b' }, { id: 'a', version: '1.2.0' }],
    error: 'La forge a refusé la lecture de 1 dépôt : a',
  })
})

test('without a forge the list names the missing settings, and nothing can be installed', async () => {
  const app = await withModules([])

  expect(await answered(await app.request('GET', LIST, { as: 'admin' }), 200)).toEqual({
    ...NOTHING,
    error:
      'Aucune forge n’est configurée : donnez son adresse et son organisation dans les réglages (forge_url, forge_org).',
  })
  await refused(await app.request('POST', install('a'), { as: 'admin' }), 503, 'forge_missing')
})

test('a module without code is installed at once; a newer commit replaces its record, and it stays disabled', async () => {
  const app = await start()
  const nav = { label: 'Notes', icon: 'note', href: '/notes', order: 7 }
  app.forge.put(repository('notes', { nav, description: 'Des notes.' }))

  const installed = await answered(await app.request('POST', install('notes'), { as: 'admin' }), 202)

  expect(installed).toEqual({ message: 'Module « Le module notes » 1.2.0 installé.', deployment: null })
  const modules = async () => answered(await app.request('GET', '/api/modules', { as: 'user' }), 200)
  const first = app.forge.tip('notes', 'main')
  expect(await modules()).toContainEqual(
    expect.objectContaining({
      id: 'notes',
      description: 'Des notes.',
      version: '1.2.0',
      is_enabled: 1,
      has_backend: false,
      nav_label: 'Notes',
      nav_icon: 'note',
      nav_href: '/notes',
      nav_order: 7,
      repository: `${app.forge.url}/${app.forge.org}/notes`,
      commit: first,
    }),
  )
  await answered(await app.request('POST', '/api/modules/notes/disable', { as: 'admin' }), 200)
  app.forge.put(repository('notes', { version: '2.0.0' }))
  await answered(await app.request('POST', install('notes'), { as: 'admin' }), 202)
  expect(await modules()).toContainEqual(
    expect.objectContaining({
      id: 'notes',
      version: '2.0.0',
      is_enabled: 0,
      nav_href: null,
      commit: app.forge.tip('notes', 'main'),
    }),
  )
  expect(app.forge.tip('notes', 'main')).not.toBe(first)
  expect(await audited(app.db)).toMatchObject([
    { action: 'module_installed', username: 'alice', target: 'notes', details: { version: '1.2.0', commit: first } },
    { action: 'module_disabled' },
    { action: 'module_installed', details: { version: '2.0.0' } },
  ])
})

test.each([
  ['a link that runs code', { nav: { label: 'x', href: 'javascript:alert(1)' } }, 'nav.href'],
  ['a link to another host without a scheme', { nav: { label: 'x', href: '//evil.example' } }, 'nav.href'],
  ['a file outside of the repository', { has_backend: true, backend: '../../etc/passwd.mjs' }, 'backend'],
  ['another id than the repository’s name', { id: 'b' }, 'id'],
  ['no version', { version: undefined }, 'version'],
])('a descriptor with %s is refused with its reason', async (_, more, field) => {
  const app = await start()
  app.forge.put(repository('a', more))

  const { details } = await refused(await app.request('POST', install('a'), { as: 'admin' }), 422, 'invalid_descriptor')

  expect(details).toContainEqual({ field, message: expect.stringMatching(/./) })
  expect(await auditedActions(app.db)).toEqual([])
})

test('an installation is refused for built-in modules, unknown modules, a missing descriptor and ordinary users', async () => {
  const app = await start()
  app.forge.put(repository('terminal'))
  app.forge.put({ name: 'bare', branches: { dev: { files: {} } } })

  await refused(await app.request('POST', install('terminal'), { as: 'admin' }), 409, 'core_module')
  await refused(await app.request('POST', install('absent'), { as: 'admin' }), 404, 'repository_missing')
  await refused(await app.request('POST', install('..%2fa'), { as: 'admin' }), 404, 'repository_missing')
  app.forge.put({ ...repository('old'), archived: true })
  const archived = await refused(await app.request('POST', install('old'), { as: 'admin' }), 404, 'repository_missing')
  expect(archived.details).toEqual([{ field: '', message: 'le dépôt « old » est archivé' }])
  await refused(await app.request('POST', install('bare'), { as: 'admin' }), 422, 'invalid_descriptor')
  await refused(await app.request('POST', install('a'), { as: 'user' }), 403, 'forbidden')
  expect(await auditedActions(app.db)).toEqual([])
})

test('a module has one installation at a time', async () => {
  const app = await start()
  app.forge.put(repository('a'))
  let release = () => {}
  const asked = new Promise<void>((resolve) => {
    app.forge.behave = async () => {
      resolve()
      await new Promise<void>((go) => {
        release = go
      })
      app.forge.behave = undefined
      return false
    }
  })

  const first = app.request('POST', install('a'), { as: 'admin' })
  await asked
  await refused(await app.request('POST', install('a'), { as: 'admin' }), 409, 'module_busy')
  release()

  await answered(await first, 202)
  await answered(await app.request('POST', install('a'), { as: 'admin' }), 202)
})

test('repair does not wait for the forge; it reports a module that the last list lacks', async () => {
  const app = await start([
    record('a', { repository: 'https://forge.example/modules/a', commit: 'c' }),
    record('local'),
  ])
  app.forge.put(repository('b'))
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  app.forge.behave = async () => {
    await held
    return false
  }
  const repair = async () => answered(await app.request('GET', '/api/repair/modules', { as: 'admin' }), 200)

  expect(await repair()).toMatchObject([
    { id: 'a', problem: null },
    { id: 'local', problem: null },
  ])
  letGo()

  await expect.poll(repair).toMatchObject([
    { id: 'a', problem: 'not_in_registry', detail: 'Son dépôt n’est plus sur la forge.' },
    { id: 'local', problem: null },
  ])
})

test('a module with code is refused where the service cannot restart itself, with a remedy', async () => {
  const app = await start()
  app.forge.put(repository('a', { has_backend: true }, { 'backend.mjs': saying('a', 'x') }))

  const { error } = await refused(await app.request('POST', install('a'), { as: 'admin' }), 503, 'deployer_missing')

  expect(error).toContain('PANEL_DEPLOYER=process')
  expect(error).toContain('ops-panel modules')
  expect(existsSync(join(app.folder, 'a'))).toBe(false)
  expect(await auditedActions(app.db)).toEqual([])
})

test('the deployer receives a module with code, with its files at the listed commit', async () => {
  const app = await start()
  app.forge.put(repository('a', { has_backend: true, backend: 'src/a.mjs' }, { 'src/a.mjs': 'first' }))
  const first = app.forge.tip('a', 'main')
  const changes: Parameters<Deployer['begin']>[0][] = []
  const deployer: Deployer = {
    async begin(change) {
      if (changes.length > 0) throw fail('deployment_busy')
      changes.push(change)
      // The same transaction writes the deployment's record.
      await app.db.batch(change.announce ? [change.announce] : [])
      return 'the-deployment'
    },
    idle: async () => {},
    stop: async () => {},
  }
  const { request } = mount(functions, { ...app.services, deployer })
  const headers = { authorization: `Bearer ${await app.tokenFor('admin')}` }
  const post = () => request(install('a'), { method: 'POST', headers })

  expect(await answered(await post(), 202)).toEqual({
    message: 'Installation du module « Le module a » 1.2.0 commencée.',
    deployment: 'the-deployment',
  })
  app.forge.put(repository('a', { has_backend: true, backend: 'src/a.mjs' }, { 'src/a.mjs': 'second' }))

  const { all, commit } = changes[0]?.files ?? {}
  expect(commit).toBe(first)
  expect([...(all ?? [])].map(([name]) => name)).toEqual(['module.json', 'src/a.mjs'])
  expect(all?.get('src/a.mjs')?.toString()).toBe('first')
  expect(changes[0]).toMatchObject({ module: 'a', before: undefined, restart: true })
  await refused(await post(), 409, 'deployment_busy')
  expect(await auditedActions(app.db)).toEqual(['module_installed'])
})

test('the commit that was shown is installed, and no other one', async () => {
  const app = await start()
  app.forge.put(repository('notes'))
  const shown = app.forge.tip('notes', 'main')
  app.forge.put(repository('notes', { version: '6.6.6' }))
  const next = app.forge.tip('notes', 'main')
  const post = (body: unknown) => app.request('POST', install('notes'), { as: 'admin', body })

  const { error } = await refused(await post({ commit: shown }), 409, 'commit_changed')

  expect(error).toContain(next)
  expect([await auditedActions(app.db), await rows(app.db, `SELECT id FROM modules WHERE id = 'notes'`)]).toEqual([
    [],
    [],
  ])
  await refused(await post({ commit: 'main' }), 400, 'invalid_request')
  await refused(await post({ commit: shown.slice(0, 10) }), 400, 'invalid_request')
  await refused(await post('{'), 400, 'invalid_json')
  await answered(await post({ commit: next }), 202)
  expect(await audited(app.db)).toMatchObject([{ details: { version: '6.6.6', commit: next } }])
})

test('a module is read at one commit, though its branch goes on in the middle', async () => {
  const app = await start()
  app.forge.put(repository('notes', { description: 'first' }))
  const shown = app.forge.tip('notes', 'main')
  app.forge.behave = ({ url = '' }) => {
    if (url.includes('module.json')) app.forge.put(repository('notes', { description: 'second' }))
    return false
  }

  await answered(await app.request('POST', install('notes'), { as: 'admin', body: { commit: shown } }), 202)

  expect(await rows(app.db, `SELECT description, "commit" FROM modules WHERE id = 'notes'`)).toEqual([
    { description: 'first', commit: shown },
  ])
})

const LIES: readonly (readonly [string, Behaviour])[] = [
  ['answers with a page for people', (_, response) => Boolean(response.end('<html>Bonjour</html>'))],
  ['answers with JSON of another shape', (_, response) => Boolean(response.end('{"repos":[]}'))],
  ['answers without an end', (_, response) => Boolean(response.write('['.padEnd(1000)))],
  ['sends twenty megabytes', (_, response) => Boolean(response.end(`[${' '.repeat(20_000_000)}]`))],
  ['sends one round in circles', ({ url }, response) => Boolean(response.writeHead(302, { location: url }).end())],
  ['refuses the token', (_, response) => Boolean(response.writeHead(401).end('{"message":"no"}'))],
  ['fails', (_, response) => Boolean(response.writeHead(500).end())],
  ['hangs up', ({ socket }) => Boolean(socket.destroy())],
  ['never answers', () => true],
]

test.each(LIES)(
  'when a forge %s the list says so in 11 s, and nothing has changed',
  async (_, behave) => {
    const app = await start([record('a', { repository: 'https://forge.example/modules/a', commit: 'c' })])
    app.forge.put(repository('a'))
    app.forge.behave = behave
    const before = await rows(app.db, 'SELECT * FROM modules')
    const began = performance.now()

    const list = await answered(await app.request('GET', LIST, { as: 'admin' }), 200)

    expect(list).toEqual({ ...NOTHING, error: expect.stringMatching(/^La forge ne peut pas être lue : /) })
    expect(performance.now() - began).toBeLessThan(11_000)
    expect(await rows(app.db, 'SELECT * FROM modules')).toEqual(before)
    expect(await auditedActions(app.db)).toEqual([])
  },
  30_000,
)

test('invalid entries among the repositories are skipped, and the others are offered', async () => {
  const app = await start()
  app.forge.put(repository('good'))
  app.forge.put({
    name: 'huge',
    branches: { main: { files: { 'module.json': `{"id":"huge"${' '.repeat(20_000_000)}}` } } },
  })
  app.forge.put({ name: '../up', branches: { main: { files: { 'module.json': JSON.stringify(descriptor('up')) } } } })
  app.forge.put({ name: 'other', branches: { main: { files: { 'module.json': JSON.stringify(descriptor('../x')) } } } })

  const list = await answered(await app.request('GET', LIST, { as: 'admin' }), 200)

  expect(list).toMatchObject({ modules: [{ id: 'good' }], error: null })
})

test('overlong names, descriptions and addresses are neither kept, nor given, nor written into the log', async () => {
  const app = await start()
  const long = 'x'.repeat(1_000_000)
  app.forge.put({ ...repository('good'), description: long })
  app.forge.behave = ({ url }, response) => {
    if (!url?.includes('/orgs/')) return false
    const owner = { login: app.forge.org }
    const bad = Array.from({ length: 200 }, (_, n) => ({ name: `${n} ${'y'.repeat(5_000)}`, owner }))
    response.setHeader('x-total-count', 201)
    response.end(JSON.stringify([{ name: 'good', owner, description: long, html_url: `https://${long}` }, ...bad]))
    return true
  }

  const list = await answered(await app.request('GET', LIST, { as: 'admin' }), 200)

  expect(list).toMatchObject({
    modules: [{ id: 'good', description: '', repository: '' }],
    error: null,
    left: [{ code: 'bad_name', count: 200 }],
  })
  expect(JSON.stringify(list).length).toBeLessThan(10_000)
  const reported = app.lines().filter((line) => line.includes('the forge was read'))
  expect(reported).toEqual([expect.stringContaining('"left":{"bad_name":200}')])
  expect(reported[0]?.length).toBeLessThan(500)
  expect(app.lines().join('\n')).not.toContain('yyyy')
})

import { AUDIT_ACTIONS, ERRORS } from '../../functions/services.ts'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parseDescriptor } from '../../functions/registry/descriptor.ts'
import { loadModules } from '../../modules/loader.ts'
import { createLog } from '../../platform/log.ts'
import { type FakeHost, mount, testApp } from '../app.ts'
import { answered, auditedActions, refused } from '../functions/answers.ts'

const EXAMPLE = join(import.meta.dirname, '../../examples/module-hello')

let parent: string
/** The folder of all modules. Its name makes vitest leave its files to Node's own import, which the service uses. */
let folder: string

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'ops-panel-modules-'))
  folder = join(parent, 'node_modules')
  await mkdir(folder)
})

afterEach(async () => {
  vi.useRealTimers()
  await rm(parent, { recursive: true })
})

async function write(id: string, source: string): Promise<void> {
  await mkdir(join(folder, id))
  await writeFile(join(folder, id, 'backend.mjs'), source)
}

/** Returns the source of a module whose default export returns these declarations. */
const declaring = (...declarations: string[]) =>
  `export default ({ z, defineFunction }) => [${declarations.join(',\n')}]\n`

/** Returns a declaration of the module `probe`, with fields replaced, left out (`''`) or added. */
const declaration = (fields: Record<string, string> = {}) =>
  `defineFunction({ ${Object.entries({
    method: `'GET'`,
    path: `'/api/modules/probe/thing'`,
    auth: `'none'`,
    rateLimit: 'false',
    response: 'z.object({ id: z.number() })',
    handler: '() => ({ id: 1 })',
    ...fields,
  })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')} })`

const probe = (fields: Record<string, string>) => write('probe', declaring(declaration(fields)))

const GOOD = declaring(declaration({ path: `'/api/modules/good/thing'` }))

const KNOWN = { errors: ERRORS, actions: AUDIT_ACTIONS }

/** Loads modules, each from its `backend.mjs`. */
async function load(ids: readonly string[], file = 'backend.mjs') {
  const { log, lines } = createLog({ level: 'debug', write: () => {} })
  const loaded = await loadModules(
    folder,
    ids.map((id) => ({ id, file })),
    KNOWN,
    log,
  )
  const { functions, problems } = loaded
  const paths = functions.map(({ method, path }) => `${method} ${path}`)
  // The service logs this line before each import.
  const logged = lines().filter((line) => !line.includes('"loading module"'))
  return { functions, problems, paths, lines: logged }
}

async function service(ids: readonly string[], fake: FakeHost = {}) {
  const { functions, problems } = await load(ids)
  expect(problems).toEqual(new Map())
  return testApp(functions, { fake })
}

/** Expects that `probe` is left out with this detail and one warning, and that another module is served. */
async function expectLeftOut(detail: unknown, problem = 'load_failed') {
  await write('good', GOOD)
  const { functions, problems, paths, lines } = await load(['probe', 'good'])

  expect(problems).toEqual(new Map([['probe', { problem, detail }]]))
  expect(paths).toEqual(['GET /api/modules/good/thing'])
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    module: 'probe',
    err: expect.anything(),
  })
  const { request } = await testApp(functions)
  expect(await answered(await request('GET', '/api/modules/good/thing'), 200)).toEqual({ id: 1 })
  await refused(await request('GET', '/api/modules/probe/thing'), 404, 'not_found')
}

test('the example has a descriptor that the registry accepts', async () => {
  const parsed = parseDescriptor(await readFile(join(EXAMPLE, 'module.json'), 'utf8'))

  expect(parsed).toMatchObject({ descriptor: { id: 'hello', has_backend: true, backend: 'backend.mjs' } })
})

test('a declaration with every field is mounted, with its parameters, its limit and its audit', async () => {
  await probe({
    method: `'POST'`,
    path: `'/api/modules/probe/:kind/items.v1/:item_id'`,
    auth: `'admin'`,
    credential: `'session'`,
    stepUp: 'true',
    targets: `({ params: { kind } }, { db }) => (db ? [kind] : undefined)`,
    rateLimit: `{ limit: 2, seconds: 60, by: 'user', shared: true, refusal: 'login_busy', audit: 'login_failed' }`,
    audit: `['update_start']`,
    request: `{
      params: z.object({ kind: z.string(), item_id: z.coerce.number() }),
      query: z.object({ deep: z.string() }),
      cookies: z.object({}),
      body: z.object({ name: z.string() }),
      refusal: 'target_missing',
    }`,
    status: '202',
    response: 'z.string()',
    contentType: `'text/plain; charset=utf-8'`,
    errors: `['job_missing']`,
    handler: `async ({ params: { kind, item_id }, query: { deep }, body: { name } }, { audit, fail }) => {
      if (item_id === 0) throw fail('job_missing')
      await audit('update_start', { target: kind })
      return [kind, item_id + 1, deep, name].join()
    }`,
  })
  const { request, db } = await service(['probe'])
  const post = (path: string, body: unknown) =>
    request('POST', `/api/modules/probe/${path}`, { as: 'admin', body, headers: { cookie: 'a=b' } })

  await refused(await post('a/items.v1/x?deep=1', {}), 404, 'not_found')
  const answer = await post('a/items.v1/4?deep=1', { name: 'n' })
  expect({ status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }).toEqual({
    status: 202,
    type: 'text/plain; charset=utf-8',
    text: 'a,5,1,n',
  })
  expect(await auditedActions(db)).toEqual(['update_start'])
  await refused(await post('a/items.v1/0?deep=1', { name: 'n' }), 503, 'login_busy')
})

test('a module that changes its declarations later changes nothing that is mounted', async () => {
  await write(
    'probe',
    `export default ({ z, defineFunction }) => {
      const limit = { limit: 1, seconds: 60, by: 'address' }
      const kept = { method: 'GET', path: '/api/modules/probe/thing', auth: 'admin', rateLimit: limit, response: z.null(),
        handler: () => {
          Object.assign(limit, { limit: 1000 })
          Object.assign(kept, { auth: 'none', rateLimit: false })
          return null
        } }
      return [kept]
    }`,
  )
  const { functions } = await load(['probe'])
  const { request, services, tokenFor } = await testApp(functions)

  await answered(await request('GET', '/api/modules/probe/thing', { as: 'admin' }), 200)

  await refused(await request('GET', '/api/modules/probe/thing', { as: 'admin' }), 429, 'rate_limited')
  const again = mount(functions, { ...services, limiter: { admit: () => 0, wait: () => 0 } })
  await refused(await again.request('/api/modules/probe/thing'), 401, 'unauthenticated')
  const headers = { authorization: `Bearer ${await tokenFor('user')}` }
  await refused(await again.request('/api/modules/probe/thing', { headers }), 403, 'forbidden')
})

test('a module may declare nothing, and its code may be in a file of another name', async () => {
  await mkdir(join(folder, 'probe/dist'), { recursive: true })
  await writeFile(join(folder, 'probe/dist/server.mjs'), 'export default () => []')

  expect(await load(['probe'], 'dist/server.mjs')).toEqual({ functions: [], problems: new Map(), paths: [], lines: [] })
})

test('the folder of the modules may be a link, and so may a file within a module', async () => {
  await write('good', GOOD)
  await symlink('backend.mjs', join(folder, 'good/other.mjs'))
  const link = join(parent, 'link')
  await symlink(folder, link)
  const { log } = createLog({ level: 'debug', write: () => {} })

  const { functions, problems } = await loadModules(link, [{ id: 'good', file: 'other.mjs' }], KNOWN, log)

  expect(problems).toEqual(new Map())
  expect(functions).toHaveLength(1)
})

const POST = { method: `'POST'`, audit: 'false' }
const ITEM = `'/api/modules/probe/items/:id'`

test.each<[what: string, fields: Record<string, string>, complaint: string]>([
  ['without a method', { method: '' }, '« method » manque'],
  ['with an unknown method', { method: `'FETCH'` }, '« method » est invalide'],
  ['without a path', { path: '' }, '« path » manque'],
  ['with a path of the service', { path: `'/api/auth/login'` }, 'doit être sous /api/modules/probe/'],
  ['with a path of another module', { path: `'/api/modules/probed/x'` }, 'doit être sous /api/modules/probe/'],
  ['with nothing after its id', { path: `'/api/modules/probe/'` }, 'avec une suite'],
  ['with a path that leads up', { path: `'/api/modules/probe/../other'` }, 'segment inadmissible : « .. »'],
  ['with a double slash', { path: `'/api/modules/probe//x'` }, 'segment inadmissible : «  »'],
  ['with a slash at the end', { path: `'/api/modules/probe/x/'` }, 'segment inadmissible : «  »'],
  ['with a wildcard', { path: `'/api/modules/probe/*'` }, 'segment inadmissible : « * »'],
  ['with an optional parameter', { path: `'/api/modules/probe/:id?'` }, 'segment inadmissible : « :id? »'],
  ['with a pattern', { path: `'/api/modules/probe/:id{.+}'` }, 'segment inadmissible : « :id{.+} »'],
  ['with a line break', { path: `'/api/modules/probe/x\\n'` }, 'segment inadmissible'],
  ['in place of enable', { ...POST, path: `'/api/modules/probe/enable'` }, 'réservée au panneau'],
  ['in place of disable', { ...POST, path: `'/api/modules/probe/disable'` }, 'réservée au panneau'],
  ['with a parameter twice', { path: `'/api/modules/probe/:id/:id'` }, 'deux fois le même paramètre'],
  ['without auth', { auth: '' }, '« auth » manque'],
  ['with an unknown role', { auth: `'owner'` }, '« auth » est invalide'],
  ['without rateLimit', { rateLimit: '' }, '« rateLimit » manque'],
  ['with rateLimit: true', { rateLimit: 'true' }, '« rateLimit » est invalide'],
  [
    'with a limit of nothing',
    { rateLimit: `{ limit: 0, seconds: 1, by: 'user' }` },
    '« rateLimit.limit » est invalide',
  ],
  ['with half a second', { rateLimit: `{ limit: 1, seconds: 0.5, by: 'user' }` }, '« rateLimit.seconds » est invalide'],
  [
    'with a limit that does not say by what it counts',
    { rateLimit: '{ limit: 1, seconds: 1 }' },
    '« rateLimit.by » manque',
  ],
  [
    'with a misspelt field of the limit',
    { rateLimit: `{ limit: 1, seconds: 1, by: 'user', share: true }` },
    '« rateLimit » a des champs inconnus : share',
  ],
  [
    'with an unknown code of the limit',
    { rateLimit: `{ limit: 1, seconds: 1, by: 'user', refusal: 'no_coffee' }` },
    '« rateLimit.refusal » est invalide',
  ],
  [
    'with an entry of the module’s own for its limit, which would not name the module',
    { rateLimit: `{ limit: 1, seconds: 1, by: 'user', audit: 'module_action' }` },
    '« rateLimit.audit » est invalide',
  ],
  ['that changes state, without audit', { method: `'DELETE'` }, '« audit » manque'],
  ['with an unknown audit action', { ...POST, audit: `['coffee_made']` }, '« audit.0 » est invalide'],
  ['with audit: true', { ...POST, audit: 'true' }, '« audit » est invalide'],
  ['with a request that is no object', { request: 'false' }, '« request » est invalide'],
  ['with a query that is no schema', { request: '{ query: {} }' }, '« request.query » est invalide'],
  [
    'with a body that is no schema',
    { ...POST, request: '{ body: { parse: () => 1 } }' },
    '« request.body » est invalide',
  ],
  ['with an unknown part of the request', { request: '{ header: z.object({}) }' }, '« request » a des champs inconnus'],
  ['that has a body with GET', { request: '{ body: z.object({}) }' }, '« request.body » n’est pas possible avec GET'],
  ['with :id, without a request', { path: ITEM }, '« request.params » ne décrit pas id'],
  [
    'with :id and other params',
    { path: ITEM, request: '{ params: z.object({ name: z.string() }) }' },
    '« request.params » ne décrit pas id ; « request.params » décrit name',
  ],
  ['with params that the path lacks', { request: '{ params: z.object({ id: z.string() }) }' }, 'absent de l’adresse'],
  ['without a response', { response: '' }, '« response » manque'],
  [
    'with a response that is no schema',
    { response: '{ id: 1 }' },
    '« response » est invalide (attendu : un schéma zod)',
  ],
  ['with another status', { status: '204' }, '« status » est invalide'],
  ['with a content type that is no text', { contentType: '1' }, '« contentType » est invalide'],
  ['with a content type that is no header', { contentType: `'a\\nb'` }, '« contentType » est invalide'],
  ['with an unknown code', { errors: `['job_missing', 'no_coffee']` }, '« errors.1 » est invalide'],
  ['with the name of a method as a code', { errors: `['toString']` }, '« errors.0 » est invalide'],
  ['with errors that are no list', { errors: `'job_missing'` }, '« errors » est invalide'],
  ['without a handler', { handler: '' }, '« handler » manque'],
  ['with a handler that is no function', { handler: '{}' }, '« handler » est invalide'],
  ['with a misspelt field', { ratelimit: '5' }, 'a des champs inconnus : ratelimit'],
  [
    'with a precondition, which the panel would replace',
    { precondition: '() => {}' },
    'champs inconnus : precondition',
  ],
  ['with a field that throws when it is read', { get: '0, get status() { throw new Error("read") }' }, 'read'],
])('a declaration %s leaves the whole module out, with the reason', async (_, fields, complaint) => {
  await write('probe', declaring(declaration({ path: `'/api/modules/probe/fine'` }), declaration(fields)))

  await expectLeftOut(expect.stringContaining(complaint))
})

test('a fault is reported with the number, the method and the path of the declaration', async () => {
  await write('probe', declaring(declaration({ path: `'/api/modules/probe/fine'` }), declaration({ rateLimit: '' })))

  await expectLeftOut(
    'déclaration 2 (GET /api/modules/probe/thing) : « rateLimit » manque (attendu : { limit, seconds, by }, ou false)',
  )
})

test.each(['null', '"GET"', '[]', '() => {}', ''])(
  'an item that is no declaration (%j) is reported with its number',
  async (text) => {
    await write('probe', declaring(declaration(), `${text}, ${declaration()}`))

    await expectLeftOut(expect.stringMatching(/^déclaration 2 : (est invalide|manque|« method » manque)/))
  },
)

test.each([
  ['the same', `'/api/modules/probe/items/:id'`],
  ['with another name of its parameter', `'/api/modules/probe/items/:name'`],
])('a path that is declared twice for a method, %s, leaves the module out', async (_, path) => {
  const request = '{ params: z.object({ id: z.string() }) }'
  await write(
    'probe',
    declaring(
      declaration({ path: ITEM, request }),
      declaration({ path: ITEM, request, ...POST }),
      declaration({ path, request: request.replace('id', path.includes(':name') ? 'name' : 'id') }),
    ),
  )

  await expectLeftOut(expect.stringMatching(/^déclaration 3 .* : cette méthode à cette adresse est déjà déclarée$/))
})

test.each([
  ['that throws while it is imported', 'throw new Error("no coffee")', 'backend.mjs : no coffee'],
  ['that throws something other than an error', 'throw { coffee: 0 }', 'backend.mjs : { coffee: 0 }'],
  ['with a syntax error', 'export default (=>', 'backend.mjs : Unexpected token'],
  ['that imports a package', `import 'no-such-package'`, `backend.mjs : Cannot find package 'no-such-package'`],
  ['that misses a file at its import', `import 'node:fs'; import './gone.mjs'`, 'backend.mjs : Cannot find module'],
  ['without a default export', 'export const list = []', 'l’export par défaut n’est pas une fonction'],
  ['whose default export is a list', 'export default []', 'l’export par défaut n’est pas une fonction'],
  ['whose default export throws', 'export default () => { throw new Error("no tea") }', 'backend.mjs : no tea'],
  ['whose default export is asynchronous', 'export default async () => []', 'renvoie une promesse'],
  ['that rejects asynchronously', 'export default async () => { throw new Error("x") }', 'renvoie une promesse'],
  ['whose default export returns one declaration', 'export default () => ({})', 'ne renvoie pas une liste'],
  ['whose default export returns nothing', 'export default () => {}', 'ne renvoie pas une liste'],
])('a module %s is left out', async (_, source, complaint) => {
  await write('probe', source)

  await expectLeftOut(expect.stringContaining(complaint))
})

test('the log contains the place in the module where the error was thrown', async () => {
  await write('probe', 'throw new Error("no coffee")')

  const { lines } = await load(['probe'])

  expect(lines[0]).toContain('no coffee')
  expect(lines[0]).toContain('probe/backend.mjs:1:7')
})

test('a module whose import never ends is left out after five seconds', async () => {
  await write('probe', 'await new Promise(() => {})\nexport default () => []')
  await write('good', GOOD)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const loading = load(['probe', 'good'])
  while (vi.getTimerCount() === 0) await turn()
  await vi.advanceTimersByTimeAsync(4_999)
  expect(vi.getTimerCount()).toBe(1)

  await vi.advanceTimersByTimeAsync(1)

  const { problems, paths } = await loading
  expect(problems.get('probe')).toEqual({
    problem: 'load_failed',
    detail: 'le chargement ne s’est pas terminé en 5 s (await hors d’une fonction ?)',
  })
  expect(paths).toEqual(['GET /api/modules/good/thing'])
  expect(vi.getTimerCount()).toBe(0)
})

const GONE = 'backend.mjs n’existe pas dans le dossier du module'

test('a module whose folder is gone is reported as having no files', async () => {
  await expectLeftOut(GONE, 'files_missing')
})

test('a module whose file is gone is reported as having no files', async () => {
  await mkdir(join(folder, 'probe'))

  await expectLeftOut(GONE, 'files_missing')
})

test('a missing folder of modules is reported for each module, and nothing is loaded', async () => {
  await rm(folder, { recursive: true })

  const { problems, functions } = await load(['probe', 'good'])

  expect([...problems.values()].map(({ problem }) => problem)).toEqual(['files_missing', 'files_missing'])
  expect(functions).toEqual([])
})

test('a folder in the place of the file is refused', async () => {
  await mkdir(join(folder, 'probe/backend.mjs'), { recursive: true })

  await expectLeftOut('backend.mjs n’est pas un fichier')
})

/** Writes code that would be served if it were loaded. */
const elsewhere = () => write('elsewhere', declaring(declaration()))

test('a link to a file outside of the module is refused, even to a file of another module', async () => {
  await elsewhere()
  await mkdir(join(folder, 'probe'))
  await symlink('../elsewhere/backend.mjs', join(folder, 'probe/backend.mjs'))

  await expectLeftOut('backend.mjs mène hors du dossier du module')
})

test('a module whose folder is a link is refused', async () => {
  await elsewhere()
  await symlink('elsewhere', join(folder, 'probe'))

  await expectLeftOut('backend.mjs mène hors du dossier du module')
})

test('a name that leads out of the folder is refused', async () => {
  await elsewhere()
  await mkdir(join(folder, 'probe'))

  const { problems, functions } = await load(['probe'], '../elsewhere/backend.mjs')

  expect(problems.get('probe')?.detail).toBe('../elsewhere/backend.mjs mène hors du dossier du module')
  expect(functions).toEqual([])
})

test('a file over 5 MiB is refused, and one of exactly 5 MiB is loaded', async () => {
  const limit = 5 * 1024 * 1024
  const source = declaring(declaration())
  await write('fits', `${declaring().trim()}\n`.padEnd(limit))
  await write('probe', source.padEnd(limit + 1))

  expect((await load(['fits'])).problems).toEqual(new Map())
  await expectLeftOut('backend.mjs dépasse 5 Mio')
})

test.each([
  ['throws', '() => { throw new Error("secret cause") }'],
  ['rejects', 'async () => { throw new Error("secret cause") }'],
  ['answers something that it does not declare', '() => ({ id: "secret cause" })'],
  ['throws a code that does not exist', `(_, { fail }) => { throw fail('no_coffee', { cause: 'secret cause' }) }`],
])('a handler that %s causes a 500 without its cause, and the service keeps running', async (_, handler) => {
  await probe({ handler })
  await write('good', GOOD)
  const { request } = await service(['probe', 'good'])

  const response = await request('GET', '/api/modules/probe/thing')

  expect(await response.clone().text()).not.toContain('secret cause')
  await refused(response, 500, 'internal')
  expect(await answered(await request('GET', '/api/modules/good/thing'), 200)).toEqual({ id: 1 })
})

test('a field that a module’s response does not declare does not leak', async () => {
  await probe({ handler: '() => ({ id: 1, password: "secret" })' })
  const { request } = await service(['probe'])

  expect(await answered(await request('GET', '/api/modules/probe/thing'), 200)).toEqual({ id: 1 })
})

test('a code that a module does not declare causes a 500 in strict mode, and is sent otherwise', async () => {
  await probe({ handler: `(_, { fail }) => { throw fail('job_missing') }` })
  const { functions } = await load(['probe'])
  const { request, services } = await testApp(functions)
  const lenient = mount(functions, services, { strict: false })

  await refused(await request('GET', '/api/modules/probe/thing'), 500, 'internal')
  await refused(await lenient.request('/api/modules/probe/thing'), 404, 'job_missing')
})

import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createForge, ForgeError } from '../../../functions/registry/forge.ts'
import { type Behaviour, type ForgeRepository, type TestForge, testForge } from '../../forge.ts'

const descriptorOf = (id: string, more: object = {}) => JSON.stringify({ id, name: id, version: '1.0.0', ...more })

/** A repository of a valid module, except for the given fields. */
const moduleOf = (name: string, more: Partial<ForgeRepository> = {}): ForgeRepository => ({
  name,
  branches: { master: { files: { 'module.json': descriptorOf(name) } } },
  ...more,
})

const invalid = (repository: string, detail: string) => ({ repository, code: 'invalid_descriptor', detail })

const names = (count: number) => Array.from({ length: count }, (_, index) => `module-${index}`)

async function forgeWith(repositories: (string | ForgeRepository)[], options?: Parameters<typeof testForge>[0]) {
  const forge = await testForge(options)
  for (const one of repositories) forge.put(typeof one === 'string' ? moduleOf(one) : one)
  return forge
}

async function listed(forge: TestForge, options?: Parameters<typeof createForge>[1]) {
  const { modules, left } = await createForge(forge, options).list()
  return { ids: modules.map(({ descriptor }) => descriptor.id), left }
}

/** Returns the reason and the message of an expected error. */
async function failed(work: Promise<unknown>): Promise<{ reason: string; message: string }> {
  const error = await work.then(
    (value) => expect.fail(`it gave ${JSON.stringify(value)}`),
    (cause: unknown) => cause,
  )
  if (!(error instanceof ForgeError)) throw error
  return { reason: error.reason, message: error.message }
}

const timed = async <result>(work: () => Promise<result>) => {
  const began = performance.now()
  const result = await work()
  return { result, ms: performance.now() - began }
}

const json = (response: ServerResponse, body: unknown, status = 200): true => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  return true
}

/** Changes the behaviour for paths that contain a text. */
const where =
  (part: string, behave: (response: ServerResponse, request: IncomingMessage) => void): Behaviour =>
  (request, response) => {
    if (!request.url?.includes(part)) return false
    behave(response, request)
    return true
  }

/** Sends far more than allowed, until the client has gone. */
const flood = (response: ServerResponse, type: string, start: string): void => {
  response.writeHead(200, { 'content-type': type })
  response.write(start)
  const chunk = Buffer.alloc(64 * 1024, ' ')
  let left = 20 * 16
  const more = (): void => {
    for (; left > 0; left -= 1) if (!response.write(chunk)) return
    response.end()
  }
  response.on('drain', more)
  more()
}

test('a module is returned with its repository, its descriptor and the commit of that reading', async () => {
  const forge = await forgeWith([moduleOf('backups', { description: 'Les sauvegardes' })])

  expect(await createForge(forge).list()).toEqual({
    modules: [
      {
        repository: {
          name: 'backups',
          description: 'Les sauvegardes',
          htmlUrl: `${forge.url}/modules/backups`,
          updatedAt: '2026-02-03T04:05:06.000Z',
          isFork: false,
          isMirror: false,
          isPrivate: false,
          origin: '',
          defaultBranch: 'master',
          branchCount: 1,
          stamp: expect.stringContaining('2026-02-03T04:05:06.000Z'),
        },
        commit: forge.tip('backups'),
        descriptor: {
          id: 'backups',
          name: 'backups',
          version: '1.0.0',
          has_backend: false,
          backend: 'backend.mjs',
        },
      },
    ],
    left: [],
  })
  expect(forge.requests).toEqual([
    'GET /api/v1/orgs/modules/repos?page=1&limit=50',
    'GET /api/v1/repos/modules/backups/git/trees/master',
    `GET /api/v1/repos/modules/backups/raw/module.json?ref=${forge.tip('backups')}`,
  ])
})

test.each([true, false])('all pages are read in order (total from the forge: %s)', async (counts) => {
  const forge = await forgeWith(names(7))
  forge.pageSize = 3
  forge.counts = counts

  expect(await listed(forge)).toEqual({ ids: names(7), left: [] })

  const pages = forge.requests.filter((request) => request.includes('/orgs/'))
  expect(pages).toHaveLength(counts ? 3 : 4)
})

test.each([true, false])('a short page is not the last one (total from the forge: %s)', async (counts) => {
  const hidden = (name: string) => moduleOf(name, { hidden: true })
  const forge = await forgeWith(['a', hidden('b'), 'c', hidden('d'), 'e'], { token: 't0ken' })
  forge.pageSize = 2
  forge.counts = counts

  expect(await listed(forge)).toEqual({ ids: ['a', 'c', 'e'], left: [] })
})

test('an empty page is not the last one either when the forge announces more', async () => {
  const hidden = (name: string) => moduleOf(name, { hidden: true })
  const forge = await forgeWith([hidden('a'), hidden('b'), 'c'], { token: 't0ken' })
  forge.pageSize = 2

  expect(await listed(forge)).toEqual({ ids: ['c'], left: [] })
})

test('an organisation without repositories has no modules', async () => {
  expect(await listed(await forgeWith([]))).toEqual({ ids: [], left: [] })
})

test('a repository that moves to the next page meanwhile is listed once', async () => {
  const forge = await forgeWith(['b', 'c', 'd'])
  forge.pageSize = 2
  forge.behave = where('page=2', (response) => json(response, [{ name: 'c' }, { name: 'd' }]))

  expect(await listed(forge)).toEqual({ ids: ['b', 'c', 'd'], left: [] })
})

test('archived and empty repositories, and those without code, are skipped without reading them', async () => {
  const wiki = moduleOf('wiki', { hasCode: false })
  const forge = await forgeWith([
    moduleOf('old', { archived: true }),
    moduleOf('new', { empty: true }),
    wiki,
    'backups',
  ])

  expect(await listed(forge)).toEqual({
    ids: ['backups'],
    left: [
      { repository: 'old', code: 'archived' },
      { repository: 'new', code: 'empty' },
      { repository: 'wiki', code: 'no_code' },
    ],
  })

  expect(forge.requests.filter((request) => /old|new|wiki/.test(request))).toEqual([])
})

test('names that no module can have are skipped, and never become part of a path', async () => {
  const forge = await forgeWith(['backups'])
  const bad = ['../x', '..', 'Big', 'a/b', 'a%2fb', '', 'x'.repeat(64), 'dot.files']
  const all = [...bad, 'backups'].map((name) => ({ name }))
  forge.behave = where('/orgs/', (response) => {
    response.setHeader('x-total-count', all.length)
    json(response, all)
  })

  const { ids, left } = await listed(forge)

  expect(ids).toEqual(['backups'])
  expect(left).toEqual(bad.map((repository) => ({ repository, code: 'bad_name' })))
  expect(forge.requests.filter((request) => !/\/orgs\/|\/modules\/backups\//.test(request))).toEqual([])
})

test('the descriptor is read from the default branch, else from master, else from main, else the module has none', async () => {
  const files = (version: string) => ({ files: { 'module.json': descriptorOf('backups', { version }) } })
  const none = { files: { README: 'old' } }
  const forge = await testForge()
  const found = async (branches: ForgeRepository['branches']) => {
    forge.put(moduleOf('backups', { branches }))
    const one = await createForge(forge).find('backups')
    const { modules, left } = await createForge(forge).list()
    // Both ways of reading agree.
    expect([modules[0]?.commit, left[0]?.code]).toEqual('code' in one ? [undefined, one.code] : [one.commit, undefined])
    return 'descriptor' in one ? [one.descriptor.version, one.branch] : one.reasons
  }

  expect(await found({ main: files('1'), master: files('2') })).toEqual(['1', 'main'])
  expect(await found({ develop: files('3'), master: files('2') })).toEqual(['3', 'develop'])
  expect(await found({ 'feature/#1': files('4') })).toEqual(['4', 'feature/#1'])
  expect(await found({ develop: none, main: files('1'), master: files('2') })).toEqual(['2', 'master'])
  expect(await found({ develop: none, main: files('1') })).toEqual(['1', 'main'])
  expect(await found({ master: none, main: files('1') })).toEqual(['1', 'main'])
  expect(await found({ master: none })).toEqual([{ field: '', message: 'le dépôt n’a pas de module.json' }])

  forge.put(moduleOf('backups', { defaultBranch: 'gone', branches: { develop: files('3'), other: none } }))
  expect(await failed(createForge(forge).find('backups'))).toEqual({
    reason: 'unreadable',
    message: 'le dépôt n’a aucune de ces branches : gone, master, main',
  })
  expect(await listed(forge)).toEqual({ ids: [], left: [{ repository: 'backups', code: 'no_descriptor' }] })
})

test.each(['', '../../../orgs/modules', 'a//b', '.hidden', 'a b', 'x'.repeat(300), 'half \ud800', '\u0000', null])(
  'a default branch %j is no branch, and never becomes part of a path',
  async (defaultBranch) => {
    const forge = await forgeWith(['backups'])
    const owner = { login: forge.org }
    const odd = { name: 'backups', owner, default_branch: defaultBranch, branch_count: 1 }
    forge.behave = (request, response) =>
      (request.url === '/api/v1/repos/modules/backups' && json(response, odd)) ||
      (request.url?.includes('/orgs/') === true && json(response, [odd]))

    expect(await createForge(forge).find('backups')).toMatchObject({ branch: 'master', commit: forge.tip('backups') })
    expect((await listed(forge)).ids).toEqual(['backups'])
  },
)

test('a push between two requests does not mix two commits', async () => {
  const forge = await forgeWith(['backups'])
  const before = forge.tip('backups')
  forge.behave = (request) => {
    const pushed = { files: { 'module.json': descriptorOf('backups', { version: '2.0.0' }) } }
    if (request.url?.includes('/raw/')) forge.put(moduleOf('backups', { branches: { master: pushed } }))
    return false
  }

  expect(await createForge(forge).find('backups')).toMatchObject({ commit: before, descriptor: { version: '1.0.0' } })
  expect(forge.tip('backups')).not.toBe(before)
})

test('without raw files the contents endpoint is used', async () => {
  const forge = await forgeWith([moduleOf('backups', { description: 'é' })])
  forge.rawBroken = true

  expect(await listed(forge)).toEqual({ ids: ['backups'], left: [] })
  expect(await createForge(forge).file('backups', 'module.json', forge.tip('backups'), 1_000)).toEqual(
    Buffer.from(descriptorOf('backups')),
  )
})

test('the address may have a path and a trailing slash', async () => {
  const forge = await forgeWith(['backups'], { path: '/git/forge', org: 'my.org' })

  for (const end of ['', '/', '//'])
    expect(await listed({ ...forge, url: forge.url + end })).toMatchObject({ ids: ['backups'] })
})

test('an invalid descriptor is not listed but reported with its reasons; a search returns them too', async () => {
  const forge = await forgeWith([
    'backups',
    moduleOf('broken', { branches: { master: { files: { 'module.json': '{' } } } }),
    moduleOf('nameless', { branches: { master: { files: { 'module.json': '{"id": "nameless"}' } } } }),
    moduleOf('copy', { branches: { master: { files: { 'module.json': descriptorOf('backups') } } } }),
  ])

  expect(await listed(forge)).toEqual({
    ids: ['backups'],
    left: [
      invalid('broken', 'ce n’est pas un texte JSON'),
      invalid('nameless', 'name : obligatoire ; version : obligatoire'),
      invalid('copy', 'id : doit être le nom du dépôt, « copy »'),
    ],
  })
  expect(await createForge(forge).find('copy')).toMatchObject({
    commit: forge.tip('copy'),
    reasons: [{ field: 'id', message: 'doit être le nom du dépôt, « copy »' }],
  })
})

test.each(['none', '', 'Backups', '../modules/backups', 'backups/../backups', 'old', 'new', 'secret', 'wiki'])(
  '%j contains no module',
  async (name) => {
    const forge = await forgeWith([
      'backups',
      moduleOf('old', { archived: true }),
      moduleOf('new', { empty: true }),
      moduleOf('secret', { private: true }),
      moduleOf('wiki', { hasCode: false }),
    ])

    expect(await failed(createForge(forge).find(name))).toMatchObject({ reason: 'missing' })

    expect(forge.requests).toEqual(/^[a-z]+$/.test(name) ? [`GET /api/v1/repos/modules/${name}`] : [])
  },
)

test('a renamed module is not found under its previous name; the reason says the new one', async () => {
  const forge = await forgeWith(['former'])
  forge.rename('former', 'backups')

  expect(await failed(createForge(forge).find('former'))).toEqual({
    reason: 'missing',
    message: 'le dépôt « former » s’appelle maintenant « backups »',
  })
})

test('the token opens private repositories; a wrong one is refused, and quoted nowhere', async () => {
  const forge = await forgeWith([moduleOf('secret', { private: true })], { token: 't0ken' })

  expect(await listed(forge)).toEqual({ ids: ['secret'], left: [] })
  expect(await listed({ ...forge, token: undefined })).toEqual({ ids: [], left: [] })
  const { reason, message } = await failed(createForge({ ...forge, token: 'wr0ng' }).list())
  expect(reason).toBe('unreachable')
  expect(message).toBe(
    'accès refusé (la liste des dépôts, HTTP 401) : vérifiez le jeton de la forge (forge_token, ou PANEL_FORGE_TOKEN)',
  )
  expect(await failed(createForge({ ...forge, token: 'wr0ng' }).find('secret'))).toMatchObject({
    reason: 'unreachable',
  })
})

test.each([301, 302, 303, 307, 308])(
  'a redirect (%d) to another origin is not followed, and nothing is sent there',
  async (status) => {
    const forge = await forgeWith(['backups'], { token: 't0ken' })
    const other = await forgeWith(['backups'], { token: 't0ken' })
    const client = createForge(forge)
    const away: Behaviour = (request, response) => {
      response.writeHead(status, { location: `${other.url}${request.url}` }).end()
      return true
    }

    forge.behave = away
    expect(await failed(client.list())).toEqual({
      reason: 'unreachable',
      message: `${forge.url} redirige vers ${other.url}, qui n’est pas l’adresse de la forge dans les réglages (forge_url)`,
    })
    expect(await failed(client.find('backups'))).toMatchObject({ reason: 'unreachable' })
    forge.behave = (request, response) => request.url?.includes('/raw/') === true && away(request, response)
    expect(await listed(forge)).toMatchObject({ ids: [], left: [{ repository: 'backups' }] })
    expect(other.requests).toEqual([])
  },
)

test('a redirect within the origin is followed with the token', async () => {
  const forge = await forgeWith([moduleOf('secret', { private: true })], { token: 't0ken' })
  forge.behave = where('/moved/', (response, { url }) =>
    response.writeHead(308, { location: url?.replace('/moved/', '/') }).end(),
  )

  expect(await listed({ ...forge, url: `${forge.url}/moved/` })).toEqual({ ids: ['secret'], left: [] })
})

test.each(['/api/v1/a', 'http://[', ''])('an endless redirect to %j is given up', async (location) => {
  const forge = await testForge()
  forge.behave = (_, response) => {
    response.writeHead(302, { location }).end()
    return true
  }

  expect(await failed(createForge(forge).list())).toMatchObject({ reason: 'unreachable' })

  expect(forge.requests.length).toBeLessThan(6)
})

test('at most six descriptors are read at a time', async () => {
  const forge = await forgeWith(names(20))
  let running = 0
  let most = 0
  let begin = () => {}
  const sixRun = new Promise<void>((resolve) => {
    begin = resolve
  })
  forge.behave = async (request, response) => {
    if (request.url?.includes('/orgs/')) return false
    running += 1
    most = Math.max(most, running)
    if (running === 6) begin()
    response.on('close', () => {
      running -= 1
    })
    await sixRun
    // A seventh would arrive meanwhile.
    await pause(20)
    return false
  }

  expect(await listed(forge)).toEqual({ ids: names(20), left: [] })

  expect(most).toBe(6)
})

test('when the forge takes 3 s for each answer, the list is read whole, six at a time', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const forge = await forgeWith(names(8))
  forge.behave = () => new Promise((resolve) => setTimeout(() => resolve(false), 3_000))
  /** Lets 3 s pass once this many requests have arrived. */
  const pass = async (requests: number) => {
    // By turns of the event loop, because `expect.poll` would advance the timers.
    for (let turn = 0; turn < 1_000_000 && forge.requests.length < requests; turn += 1) await nextTurn()
    expect(forge.requests).toHaveLength(requests)
    vi.advanceTimersByTime(3_000)
  }

  const listing = listed(forge)
  // The page, then two requests for each of six, and of the two that are left.
  for (const requests of [1, 7, 13, 15, 17]) await pass(requests)

  expect(await listing).toEqual({ ids: names(8), left: [] })
})

test.each([
  ['never answers', () => {}],
  ['stops after the headers', (response: ServerResponse) => response.writeHead(200).flushHeaders()],
  ['stops in the middle', (response: ServerResponse) => response.writeHead(200).write('[{"name": "ba')],
])('a forge that %s delays the list no longer than the limit, and no connection stays open', async (_, stall) => {
  const forge = await forgeWith(['backups', 'slow'])
  const client = createForge(forge, { withinMs: 1_000 })
  const open = new Set<IncomingMessage['socket']>()
  const stalling = (part: string): Behaviour =>
    where(part, (response, { socket }) => {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
      stall(response)
    })
  const commit = forge.tip('slow')

  forge.behave = stalling('/')
  const { result, ms } = await timed(() =>
    Promise.all([client.list(), client.find('slow'), client.file('slow', 'a.mjs', commit, 99)].map(failed)),
  )
  expect(result.map(({ reason }) => reason)).toEqual(['unreachable', 'unreachable', 'unreachable'])
  expect(result[0]?.message).toBe(`aucune réponse de ${forge.url} à temps pour la liste des dépôts`)
  expect(ms).toBeLessThan(6_000)

  for (const part of ['/slow/git/trees/', '/slow/raw/']) {
    forge.behave = stalling(part)
    expect(await listed(forge, { withinMs: 1_000 })).toEqual({
      ids: ['backups'],
      left: [{ repository: 'slow', code: 'unreadable', detail: expect.stringContaining('à temps') }],
    })
  }
  await expect.poll(() => open.size).toBe(0)
})

test('when a page fails, no partial list is returned', async () => {
  const forge = await forgeWith(names(4))
  forge.pageSize = 2
  forge.behave = where('page=2', (response) => json(response, { message: 'broken' }, 500))

  const { result, ms } = await timed(() => failed(createForge(forge).list()))

  expect(result).toEqual({ reason: 'unreachable', message: 'réponse HTTP 500 pour la liste des dépôts' })
  expect(ms).toBeLessThan(5_000)
})

test.each<[string, (response: ServerResponse) => void, string]>([
  [
    'a page of HTML',
    (response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>Welcome</html>'),
    'une page HTML a été reçue au lieu de la liste des dépôts',
  ],
  ['HTML without saying so', (response) => response.end('<html>'), 'la réponse n’est pas celle d’une forge'],
  ['half a list', (response) => response.end('[{"name": "a"'), 'la réponse n’est pas celle d’une forge'],
  ['an object', (response) => json(response, { data: [] }), 'la réponse n’est pas celle d’une forge'],
  ['a list of something else', (response) => json(response, [{ id: 1 }]), '(0.name : '],
  ['20 MiB', (response) => flood(response, 'application/json', '['), 'la liste des dépôts dépasse 4 Mio'],
  ['404', (response) => json(response, {}, 404), 'l’organisation « modules » n’existe pas, ou n’est pas lisible'],
  ['500', (response) => json(response, {}, 500), 'réponse HTTP 500 pour la liste des dépôts'],
  ['204', (response) => response.writeHead(204).end(), 'réponse HTTP 204 pour la liste des dépôts'],
  ['a broken connection', (response) => response.destroy(), 'aucune réponse de'],
])('a list that is %s cannot be read', async (_, behave, message) => {
  const forge = await forgeWith(['backups'])
  forge.behave = where('/orgs/', behave)

  const failure = await failed(createForge(forge).list())

  expect(failure.reason).toBe('unreachable')
  expect(failure.message).toContain(message)
})

test.each<[string, string, (response: ServerResponse) => void, string, string]>([
  [
    'a descriptor of HTML',
    '/raw/',
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('{}'),
    'invalid_descriptor',
    'une page HTML a été reçue au lieu de module.json de « liar »',
  ],
  [
    'HTML with another content type',
    '/raw/',
    (response) => response.end('<!doctype html>'),
    'invalid_descriptor',
    'c’est une page HTML',
  ],
  [
    '20 MiB',
    '/raw/',
    (response) => flood(response, 'text/plain', '{'),
    'too_large',
    'module.json de « liar » dépasse 64 Kio',
  ],
])('%s is reported as a reason and is no failure', async (_, part, behave, code, reason) => {
  const forge = await forgeWith(['backups', 'liar'])
  forge.behave = where(`/liar${part}`, behave)

  const left = { repository: 'liar', code, ...(code === 'invalid_descriptor' && { detail: reason }) }
  expect(await listed(forge)).toEqual({ ids: ['backups'], left: [left] })
  expect(await createForge(forge).find('liar')).toMatchObject({ code, reasons: [{ field: '', message: reason }] })
})

test.each(['master', '../../x', '', 'A'.repeat(40), 'a'.repeat(41), null])(
  'a branch at %j has no commit, and nothing is read there',
  async (id) => {
    const forge = await forgeWith(['backups', 'liar'])
    forge.behave = (request, response) =>
      (request.url?.includes('/liar/branches/') === true && json(response, { name: 'master', commit: { id } })) ||
      (request.url?.includes('/liar/git/trees/') === true &&
        json(response, { sha: id, tree: [{ path: 'module.json', mode: '100644' }], truncated: false }))

    expect(await listed(forge)).toMatchObject({ ids: ['backups'], left: [{ repository: 'liar' }] })
    expect(await failed(createForge(forge).find('liar'))).toMatchObject({ reason: 'unreachable' })

    expect(forge.requests.filter((request) => /liar\/(raw|contents)/.test(request))).toEqual([])
  },
)

test('an overlong answer is not read to its end', async () => {
  const forge = await forgeWith(['backups'])
  const sent = new Set<IncomingMessage['socket']>()
  forge.behave = where('/raw/', (response, { socket }) => {
    sent.add(socket)
    flood(response, 'text/plain', '')
  })

  const reading = createForge(forge).file('backups', 'backend.mjs', forge.tip('backups'), 1024 * 1024)

  expect(await failed(reading)).toEqual({
    reason: 'unreadable',
    message: 'backend.mjs de « backups » dépasse 1 Mio',
  })
  await expect.poll(() => [...sent].map(({ destroyed }) => destroyed)).toEqual([true])
  expect([...sent][0]?.bytesWritten).toBeLessThan(15 * 1024 * 1024)
})

test('a forge that repeats the same page is not asked again', async () => {
  const forge = await forgeWith(['backups'])
  forge.behave = where('/orgs/', (response) => json(response, [{ name: 'backups' }]))

  expect(await listed(forge)).toEqual({
    ids: ['backups'],
    left: [{ repository: '*', code: 'list_repeats' }],
  })

  expect(forge.requests.filter((request) => request.includes('/orgs/'))).toHaveLength(2)
})

test('an endless list ends after 200 pages', async () => {
  const forge = await forgeWith([])
  forge.behave = where('/orgs/', (response, { url }) =>
    json(response, [{ name: `Page ${url?.match(/page=(\d+)/)?.[1]}` }]),
  )

  const { ids, left } = await listed(forge)

  expect(ids).toEqual([])
  expect(left).toHaveLength(201)
  expect(left.at(-1)).toEqual({
    repository: '*',
    code: 'list_too_long',
    detail: 'la liste est plus longue que 2000 dépôts ou 200 pages',
  })
  expect(forge.requests).toHaveLength(200)
})

test('of a page with many thousands, 2000 entries are read', async () => {
  const forge = await forgeWith([])
  const many = Array.from({ length: 30_000 }, (_, index) => ({ name: `N${index}` }))
  forge.behave = where('/orgs/', (response) => json(response, many))

  expect((await listed(forge)).left).toHaveLength(2_001)
})

test('invalid links and dates are omitted', async () => {
  const forge = await forgeWith(['backups'])
  const owner = { login: forge.org }
  const odd = { name: 'backups', owner, description: null, html_url: 'javascript:alert(1)', updated_at: 'yesterday' }
  forge.behave = (request, response) => request.url === '/api/v1/repos/modules/backups' && json(response, odd)

  expect((await createForge(forge).find('backups')).repository).toEqual({
    name: 'backups',
    description: '',
    htmlUrl: '',
    updatedAt: '',
    isFork: false,
    isMirror: false,
    isPrivate: false,
    origin: '',
    defaultBranch: '',
    branchCount: undefined,
    stamp: '',
  })
})

test('a transferred repository is not found at its previous address', async () => {
  const forge = await forgeWith(['backups'])
  const given = { name: 'backups', owner: { login: 'mallory' }, html_url: 'https://forge.example/mallory/backups' }
  forge.behave = (request, response) => request.url === '/api/v1/repos/modules/backups' && json(response, given)

  expect(await failed(createForge(forge).find('backups'))).toMatchObject({ reason: 'missing' })
})

test('a silent forge counts as unreachable', async () => {
  const forge = await forgeWith(['backups'])
  const commit = forge.tip('backups')
  await forge.close()
  const client = createForge(forge)

  const failures = [client.list(), client.find('backups'), client.file('backups', 'module.json', commit, 9)].map(failed)

  for (const { reason, message } of await Promise.all(failures)) {
    expect(reason).toBe('unreachable')
    expect(message).toContain(`aucune réponse de ${forge.url} (ECONNREFUSED) pour `)
  }
})

test.each([false, true])(
  'a file is returned byte for byte, as it was at the commit (no raw files: %s)',
  async (rawBroken) => {
    const bytes = Buffer.from([0, 255, 10, 13, 195, 40, 60])
    const files = { 'module.json': descriptorOf('backups'), 'a b/é#?%.mjs': bytes, empty: '' }
    const forge = await forgeWith([moduleOf('backups', { branches: { master: { files } } })])
    const commit = forge.tip('backups')
    forge.put(moduleOf('backups'))
    forge.rawBroken = rawBroken
    const { file } = createForge(forge)

    expect(await file('backups', 'a b/é#?%.mjs', commit, bytes.length)).toEqual(bytes)
    expect(await file('backups', 'empty', commit, 0)).toEqual(Buffer.alloc(0))
    expect(await failed(file('backups', 'a b/é#?%.mjs', commit, bytes.length - 1))).toMatchObject({
      reason: 'unreadable',
    })
    expect(await failed(file('backups', 'a b/é#?%.mjs', forge.tip('backups'), 99))).toMatchObject({ reason: 'missing' })
    expect(await failed(file('backups', 'none.mjs', commit, 99))).toMatchObject({ reason: 'missing' })
    expect(await failed(file('none', 'empty', commit, 99))).toMatchObject({ reason: 'missing' })
  },
)

test.each([
  ['backups', '../../other/raw/x', 'a'.repeat(40)],
  ['backups', '/etc/passwd', 'a'.repeat(40)],
  ['backups', './x', 'a'.repeat(40)],
  ['backups', 'x', 'master'],
  ['../x', 'x', 'a'.repeat(40)],
])('impossible names cause no request: %j %j %j', async (repository, path, commit) => {
  const forge = await forgeWith(['backups'])

  expect(await failed(createForge(forge).file(repository, path, commit, 99))).toMatchObject({ reason: 'missing' })

  expect(forge.requests).toEqual([])
})

test.each<[string, unknown]>([
  ['a folder', [{ type: 'file', name: 'x' }]],
  ['a link', { type: 'symlink', target: '/etc/passwd', content: null }],
  ['no base64', { type: 'file', encoding: 'base64', content: 'é!' }],
  ['nothing, because it is too large for the forge', { type: 'file', encoding: null, content: null }],
])('contents that are %s are unreadable', async (_, body) => {
  const forge = await forgeWith(['backups'])
  forge.rawBroken = true
  forge.behave = where('/contents/', (response) => json(response, body))

  const reading = createForge(forge).file('backups', 'x', 'a'.repeat(40), 99)

  expect(await failed(reading)).toMatchObject({ reason: 'unreadable' })
})

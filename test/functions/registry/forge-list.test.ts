import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createPauses } from '../../../functions/forge/pauses.ts'
import { createForge, ForgeError } from '../../../functions/registry/forge.ts'
import { frozenAfter, limitedAfter, type TestForge, testForge } from '../../forge.ts'
import { type ForgeRepository, LFS_POINTER } from '../../forge-repository.ts'

const HOUR = 3_600_000
const LATER = Date.parse('2026-03-01T00:00:00Z')
const at = (ms: number) => ({ now: new Date(LATER + ms) })

const descriptorOf = (id: string, version = '1.0.0') => JSON.stringify({ id, name: id, version })
const withFile = (name: string, file: ForgeRepository['branches'][string]['files'][string]): ForgeRepository => ({
  name,
  branches: { main: { files: { 'module.json': file } } },
})
const moduleOf = (name: string, version?: string) => withFile(name, descriptorOf(name, version))
const plain = (name: string): ForgeRepository => ({ name, branches: { main: { files: { README: 'x' } } } })
const numbered = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}-${n}`)

async function forgeWith(repositories: ForgeRepository[], options?: Parameters<typeof testForge>[0]) {
  const forge = await testForge(options)
  for (const one of repositories) forge.put(one)
  return forge
}

/** The ids of a list, why others are left out, and the requests below repositories that it took. */
async function listed(forge: TestForge, client = createForge(forge), options?: { now: Date }) {
  const before = forge.requests.length
  const { modules, left } = await client.list(options)
  const asked = forge.requests.slice(before).filter((request) => request.includes('/repos/'))
  return {
    ids: modules.map(({ descriptor }) => descriptor.id),
    left: left.map(({ repository, code }) => [repository, code]),
    asked: asked.map((request) => request.replace(/^GET .*\/repos\/[^/]+\//, '')),
  }
}

test('private repositories, forks and mirrors are offered, with what they come from', async () => {
  const forge = await forgeWith(
    [
      { ...moduleOf('secret'), private: true },
      { ...moduleOf('fork'), forkOf: 'https://forge.example/other/fork' },
      { ...moduleOf('mirror'), mirrorOf: 'https://elsewhere.example/mirror.git' },
      { ...moduleOf('told'), mirrorOf: 'https://name:password@elsewhere.example/told.git' },
      { ...moduleOf('script'), forkOf: 'javascript:alert(1)' },
    ],
    { token: 't0ken' },
  )

  const { modules } = await createForge(forge).list()

  const shown = modules.map(({ repository: { name, isPrivate, isFork, isMirror, origin } }) => [
    name,
    { isPrivate, isFork, isMirror, origin },
  ])
  const common = { isPrivate: false, isFork: false, isMirror: false, origin: '' }
  expect(Object.fromEntries(shown)).toEqual({
    secret: { ...common, isPrivate: true },
    fork: { ...common, isFork: true, origin: 'https://forge.example/other/fork' },
    mirror: { ...common, isMirror: true, origin: 'https://elsewhere.example/mirror.git' },
    told: { ...common, isMirror: true },
    script: { ...common, isFork: true },
  })
})

test.each([false, true])(
  'symbolic links and pointers of Git LFS are told apart, for descriptors and for code (no raw files: %s)',
  async (rawBroken) => {
    const forge = await forgeWith([
      withFile('link', { link: 'other.json' }),
      withFile('pointer', LFS_POINTER),
      { name: 'code', branches: { main: { files: { 'a.mjs': { link: '/etc/passwd' }, 'b.mjs': LFS_POINTER } } } },
    ])
    forge.rawBroken = rawBroken
    const client = createForge(forge)

    expect(await listed(forge, client)).toMatchObject({
      ids: [],
      left: [
        ['link', 'symlink'],
        ['pointer', 'lfs_pointer'],
        ['code', 'no_descriptor'],
      ],
    })
    expect(await client.find('link')).toMatchObject({ reasons: [{ message: 'module.json est un lien symbolique' }] })
    expect(await client.find('pointer')).toMatchObject({
      reasons: [{ message: 'module.json est un pointeur Git LFS' }],
    })
    const messageOf = (path: string) =>
      client.file('code', path, forge.tip('code', 'main'), 1_000).catch((error: unknown) => {
        if (!(error instanceof ForgeError)) throw error
        return `${error.reason}: ${error.message}`
      })
    expect(await messageOf('a.mjs')).toBe('unreadable: a.mjs de « code » est un lien symbolique')
    expect(await messageOf('b.mjs')).toBe('unreadable: b.mjs de « code » est un pointeur Git LFS')
  },
)

test('a repository without a module costs one request, and a module two', async () => {
  const forge = await forgeWith([plain('a'), moduleOf('b')])

  expect((await listed(forge)).asked).toEqual([
    'a/git/trees/main',
    'b/git/trees/main',
    `b/raw/module.json?ref=${forge.tip('b', 'main')}`,
  ])
})

test.each([
  ['has no trees', 404, {}],
  ['refuses trees', 400, {}],
  ['sends something else as a tree', 200, { tree: [] }],
  [
    'sends a part of a large tree',
    200,
    { sha: 'a'.repeat(40), tree: [{ path: 'a', mode: '100644' }], truncated: true },
  ],
  [
    'sends a tree of a commit that is none',
    200,
    { sha: 'a'.repeat(40), tree: [{ path: 'module.json', mode: '100755' }] },
  ],
])('a forge that %s is asked for the branch and the file', async (_, status, body) => {
  const forge = await forgeWith([plain('a'), moduleOf('b')])
  forge.behave = ({ url }, response) =>
    url?.includes('/git/trees/') === true && Boolean(response.writeHead(status).end(JSON.stringify(body)))

  expect(await listed(forge)).toMatchObject({ ids: ['b'], left: [['a', 'no_descriptor']] })
  expect((await createForge(forge).list()).modules[0]?.commit).toBe(forge.tip('b', 'main'))
})

test.each(['040000', '160000'])('a module.json of mode %s is no file', async (mode) => {
  const forge = await forgeWith([plain('a')])
  const tree = [{ path: 'module.json', mode }]
  forge.behave = ({ url }, response) =>
    url?.includes('/git/trees/') === true && Boolean(response.end(JSON.stringify({ sha: 'a'.repeat(40), tree })))

  expect((await listed(forge)).left).toEqual([['a', 'no_descriptor']])
})

test('the next lists read what has changed: modules by their commit, others by their date, for an hour at most', async () => {
  const forge = await forgeWith([plain('a'), moduleOf('b'), withFile('c', '{')])
  const client = createForge(forge)
  const first = await listed(forge, client, at(0))
  const left = [
    ['a', 'no_descriptor'],
    ['c', 'invalid_descriptor'],
  ]
  expect(first).toMatchObject({ ids: ['b'], left })

  expect(await listed(forge, client, at(HOUR - 1))).toEqual({ ids: ['b'], left, asked: ['b/branches/main'] })
  expect((await listed(forge, client, at(HOUR))).asked).toHaveLength(4)

  forge.put(moduleOf('a'))
  forge.put(moduleOf('b', '2.0.0'))
  expect(await listed(forge, client, at(HOUR))).toMatchObject({ ids: ['a', 'b'], left: left.slice(1) })
  const { modules } = await client.list(at(HOUR))
  expect(modules[1]).toMatchObject({ commit: forge.tip('b', 'main'), descriptor: { version: '2.0.0' } })

  // A repository that is gone is forgotten, and read anew when it comes back.
  forge.remove('c')
  await listed(forge, client, at(HOUR))
  forge.put(withFile('c', '{'))
  expect((await listed(forge, client, at(HOUR))).asked).toContain('c/git/trees/main')
})

test('a repository that changed a moment ago is read again, because the forge counts in seconds', async () => {
  const forge = await forgeWith([plain('a')])
  const client = createForge(forge)
  const pushed = Date.parse('2026-02-03T04:05:06Z')
  for (const ms of [1_000, 60_000]) {
    await client.list({ now: new Date(pushed + ms) })
    expect((await listed(forge, client, { now: new Date(pushed + ms) })).asked).toHaveLength(1)
  }
  await client.list({ now: new Date(pushed + 60_001) })

  expect((await listed(forge, client, { now: new Date(pushed + 60_002) })).asked).toEqual([])
})

test('a renamed, a force-pushed and a moved module are read as they are now', async () => {
  const forge = await forgeWith([moduleOf('former'), moduleOf('forced'), moduleOf('moved')])
  const client = createForge(forge)
  await client.list(at(0))

  forge.rename('former', 'renamed')
  forge.forcePush(moduleOf('forced', '0.9.0'))
  const files = { 'module.json': descriptorOf('moved', '3.0.0') }
  forge.put({ name: 'moved', defaultBranch: 'next', branches: { main: { files: {} }, next: { files } } })
  const { modules, left } = await client.list(at(0))

  expect(modules.map(({ descriptor: { id, version }, commit }) => [id, version, commit])).toEqual([
    ['forced', '0.9.0', forge.tip('forced', 'main')],
    ['moved', '3.0.0', forge.tip('moved', 'next')],
  ])
  // The descriptor still has the former name.
  expect(left).toEqual([
    { repository: 'renamed', code: 'invalid_descriptor', detail: 'id : doit être le nom du dépôt, « renamed »' },
  ])
})

test.each([
  ['limits requests', limitedAfter],
  ['no longer answers', frozenAfter],
])('when the forge %s in the middle, what it has given is listed and kept, and the rest follows', async (_, after) => {
  const ids = numbered('module', 30)
  const forge = await forgeWith(ids.map((id) => moduleOf(id)))
  let now = 0
  const pauses = createPauses({ now: () => now, wait: (ms, signal) => setTimeout(ms, undefined, { signal }) })
  const client = createForge(forge, { withinMs: 500, pauses })
  forge.behave = after(20, 600)

  const first = await listed(forge, client, at(0))

  expect(first.ids.length).toBeGreaterThan(0)
  expect(first.left).toEqual(ids.filter((id) => !first.ids.includes(id)).map((id) => [id, 'unreadable']))
  forge.behave = undefined
  // The pause that the forge has asked for is over.
  now += 60_000
  const next = await listed(forge, createForge(forge, { pauses }), at(0))
  expect(next).toMatchObject({ ids, left: [] })
  const again = await listed(forge, client, at(0))
  expect(again).toMatchObject({ ids, left: [] })
  expect(again.asked.length).toBeLessThan(next.asked.length)
})

test('a forge that has stopped answering is asked about few more repositories', async () => {
  const forge = await forgeWith(numbered('module', 50).map((id) => moduleOf(id)))
  forge.behave = ({ url }) => !url?.includes('/orgs/')

  // Also the time in which the list of the repositories must come, on a busy machine too.
  const { left } = await createForge(forge, { withinMs: 1_000 }).list()

  expect(left.filter(({ code }) => code === 'unreadable')).toHaveLength(50)
  expect(left.at(-1)?.detail).toBe('la forge ne répond plus')
  expect(forge.requests.length).toBeLessThan(1 + 20)
})

test('a page that fails ahead of its turn fails the list once, and an abort ends it', async () => {
  const forge = await forgeWith(numbered('module', 12).map((id) => moduleOf(id)))
  forge.pageSize = 2
  forge.behave = ({ url }, response) => /page=[45]/.test(url ?? '') && Boolean(response.writeHead(500).end())
  await expect(createForge(forge).list()).rejects.toThrow('réponse HTTP 500 pour la liste des dépôts')

  forge.behave = () => true
  const stopping = new AbortController()
  const listing = createForge(forge).list({ signal: stopping.signal })
  stopping.abort()
  await expect(listing).rejects.toThrow('aucune réponse')
})

test.each([0, 200])('1,000 repositories with %d modules are listed whole', async (count) => {
  const ids = numbered('module', count)
  const others = numbered('plain', 1_000 - count)
  const forge = await forgeWith([...ids.map((id) => moduleOf(id)), ...others.map(plain)])
  const client = createForge(forge)

  const first = await listed(forge, client, at(0))

  expect(first.ids).toEqual(ids)
  expect(first.left).toHaveLength(1_000 - count)
  expect(first.asked).toHaveLength(1_000 + count)
  expect((await listed(forge, client, at(1))).asked).toHaveLength(count)
})

import { expect, test } from 'vitest'
import { type ForgeRepository, LFS_POINTER } from '../../forge-repository.ts'
import { type TestForge, testForge } from '../../forge.ts'
import { answered } from '../answers.ts'
import { withModules } from '../modules/module.ts'

const LIST = '/api/registry/modules'

const moduleOf = (id: string): ForgeRepository => ({
  name: id,
  branches: { main: { files: { 'module.json': JSON.stringify({ id, name: id, version: '1.0.0' }) } } },
})

async function start(names: readonly string[]) {
  const forge = await testForge()
  for (const name of names) forge.put(moduleOf(name))
  const app = await withModules([], { env: { PANEL_FORGE_URL: forge.url, PANEL_FORGE_ORG: forge.org } })
  const list = async (query = '') => answered(await app.request('GET', LIST + query, { as: 'admin' }), 200)
  return { ...app, forge, list }
}

/** Holds the answers to some requests until they are let go. */
function held(forge: TestForge, part: string) {
  let letGo = () => {}
  const gone = new Promise<void>((resolve) => {
    letGo = resolve
  })
  forge.behave = async ({ url }) => {
    if (url?.includes(part)) await gone
    return false
  }
  return () => letGo()
}

test('a list that takes long is shown in part the first time, with its progress, and whole in the end', async () => {
  const app = await start(['a', 'b', 'slow'])
  app.forge.put({ name: 'gone', archived: true, branches: {} })
  const letGo = held(app.forge, '/slow/')

  expect(await app.list()).toMatchObject({
    modules: [{ id: 'a' }, { id: 'b' }],
    error: null,
    left: [],
    reading: true,
    progress: { repositories: 3, read: 2, is_listed: true },
    read_at: null,
  })
  letGo()

  await expect
    .poll(() => app.list())
    .toMatchObject({
      modules: [{ id: 'a' }, { id: 'b' }, { id: 'slow' }],
      left: [{ code: 'archived' }],
      reading: false,
      progress: null,
      read_at: expect.stringMatching(/^\d{4}-/),
    })
})

test('the previous list is given at once while the forge is read again, and stays until the new one is whole', async () => {
  const app = await start(['a'])
  await app.list()
  app.forge.put(moduleOf('b'))
  const letGo = held(app.forge, '/b/')
  app.advance(60_000)

  for (let times = 0; times < 3; times += 1)
    expect(await app.list()).toMatchObject({ modules: [{ id: 'a' }], reading: true })
  const refreshed = app.list('?refresh=1')
  // A later request has passed the same steps, so the refresh has joined the reading by then.
  await app.list()
  letGo()

  expect(await refreshed).toMatchObject({ modules: [{ id: 'a' }, { id: 'b' }], reading: false })
  // All of these share one reading.
  expect(app.forge.requests.filter((request) => request.includes('/orgs/'))).toHaveLength(2)
})

test('after failures the forge is left alone for longer and longer, except by people who ask', async () => {
  const app = await start(['a'])
  app.forge.behave = (_, response) => Boolean(response.writeHead(500).end())
  const asked = () => app.forge.requests.length

  await app.list()
  for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
    const before = asked()
    app.advance(seconds * 1000 - 1)
    await app.list()
    expect(asked()).toBe(before)
    app.advance(1)
    await app.list()
    expect(asked()).toBe(before + 1)
  }
  const before = asked()
  await app.list('?refresh=1')
  expect(asked()).toBe(before + 1)

  app.forge.behave = undefined
  expect(await app.list('?refresh=1')).toMatchObject({ modules: [{ id: 'a' }], error: null })
})

test('repositories that are not offered are grouped by the reason, and each reading is one line of the log', async () => {
  const app = await start(['good'])
  const file = (text: string) => ({ branches: { main: { files: { 'module.json': text } } } })
  for (let n = 0; n < 60; n += 1) app.forge.put({ name: `plain-${n}`, branches: { main: { files: { README: '' } } } })
  app.forge.put({ name: 'Big', branches: {} })
  app.forge.put({ name: 'old', archived: true, branches: {} })
  app.forge.put({ name: 'wiki', hasCode: false, branches: {} })
  app.forge.put({ name: 'new', empty: true, branches: {} })
  app.forge.put({ name: 'lfs', ...file(LFS_POINTER) })
  app.forge.put({ name: 'link', branches: { main: { files: { 'module.json': { link: 'x' } } } } })
  app.forge.put({ name: 'huge', ...file(' '.repeat(70_000)) })
  app.forge.put({ name: 'wrong', ...file('{"id":"wrong","name":"x"}') })
  app.forge.behave = ({ url }, response) => Boolean(url?.includes('/plain-0/') && response.writeHead(502).end())

  const { left } = Object(await app.list())

  const named = (name: string, detail: string | null = null) => [{ name, detail }]
  expect(left).toMatchObject([
    { code: 'archived', count: 1, repositories: named('old') },
    { code: 'empty', count: 1, repositories: named('new') },
    { code: 'no_code', count: 1, repositories: named('wiki') },
    { code: 'bad_name', count: 1, repositories: named('Big') },
    { code: 'no_descriptor', count: 59, reason: 'n’a pas de module.json' },
    { code: 'invalid_descriptor', count: 1, repositories: named('wrong', 'version : obligatoire') },
    { code: 'symlink', count: 1, repositories: named('link') },
    { code: 'lfs_pointer', count: 1, repositories: named('lfs') },
    { code: 'too_large', count: 1, repositories: named('huge') },
    { code: 'unreadable', count: 1, repositories: named('plain-0', expect.stringContaining('HTTP 502')) },
  ])
  expect(left[4].repositories).toHaveLength(50)
  const lines = app.lines().filter((line) => /forge|repository|plain/.test(line))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('"no_descriptor":59')
})

import { expect, test } from 'vitest'
import { netFiles, undone } from '../../../functions/releases/changed-files.ts'
import { answered, refused } from '../answers.ts'
import { record, withModules } from '../modules/module.ts'
import { pageFiles, UNKNOWN, versionedForge } from './versioned-forge.ts'

const PATH = '/api/registry/modules/notes'
const page = (version: string, more: Record<string, string> = {}) =>
  pageFiles('notes', version, { 'index.html': version, ...more })

async function start(modules: Parameters<typeof withModules>[0] = []) {
  const on = await versionedForge()
  const app = await withModules(modules, { env: { PANEL_FORGE_URL: on.forge.url, PANEL_FORGE_ORG: on.forge.org } })
  const get = (path: string) => app.request('GET', `${PATH}${path}`, { as: 'admin' })
  return {
    ...app,
    on,
    get,
    changes: async (from: string, to: string) => answered(await get(`/changes?from=${from}&to=${to}`), 200),
  }
}

test('the versions are the newest commit, published releases and tags, with the commits that they point at', async () => {
  const app = await start([record('notes', { repository: 'https://forge.example/notes', commit: UNKNOWN, tag: 'v0' })])
  const first = app.on.push('notes', page('1.0.0'))
  const second = app.on.push('notes', page('2.0.0'))
  app.on.tag('notes', 'v1', first)
  app.on.tag('notes', 'a/b', second)
  app.on.publish('notes', 'v1', { name: `First\nline ${'x'.repeat(500)}`, body: 'n'.repeat(9_000), prerelease: true })
  app.on.publish('notes', 'v2', { draft: true })
  app.on.publish('notes', 'without-tag')

  expect(await answered(await app.get('/versions'), 200)).toEqual({
    installed: { version: '1.0.0', commit: UNKNOWN, tag: 'v0' },
    previous: null,
    tip: { commit: second, branch: 'main', version: '2.0.0' },
    releases: [
      {
        tag: 'v1',
        name: 'First',
        commit: first,
        published_at: '2026-02-03T04:05:06.000Z',
        prerelease: true,
        notes: 'n'.repeat(4_000),
      },
    ],
    tags: [
      { tag: 'v1', commit: first },
      { tag: 'a/b', commit: second },
    ],
    error: null,
  })
})

test('versions of a module that is not on the forge, of an unreachable forge, and without a forge say so', async () => {
  const app = await start()
  app.on.push('notes', page('1.0.0'))

  const missing = await app.request('GET', '/api/registry/modules/absent/versions', { as: 'admin' })
  expect(await answered(missing, 200)).toMatchObject({
    installed: null,
    tip: null,
    error: expect.stringContaining('absent'),
  })
  await refused(
    await app.request('GET', '/api/registry/modules/..%2fx/versions', { as: 'admin' }),
    404,
    'module_missing',
  )
  await refused(await app.request('GET', `${PATH}/versions`, { as: 'user' }), 403, 'forbidden')
  await app.on.forge.close()
  expect(await answered(await app.get('/versions'), 200)).toMatchObject({
    tip: null,
    error: expect.stringMatching(/^La forge ne peut pas être lue : /),
  })
  expect(await app.changes(UNKNOWN, UNKNOWN)).toMatchObject({ unknown: 'forge_failed' })
  const bare = await withModules([])
  expect(await answered(await bare.request('GET', `${PATH}/versions`, { as: 'admin' }), 200)).toMatchObject({
    error: expect.stringContaining('forge_url'),
  })
  const asked = await bare.request('GET', `${PATH}/changes?from=${UNKNOWN}&to=${UNKNOWN}`, { as: 'admin' })
  await refused(asked, 503, 'forge_missing')
})

test('the changes between two commits are the commits, the newest first, and what they leave of each file', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1', { 'old.js': 'a', 'kept.js': 'k' }), { title: 'First' })
  app.on.push('notes', page('2', { 'kept.js': 'k', 'passing.js': 'b' }), { title: `Second ${'y'.repeat(400)}` })
  const third = app.on.push('notes', page('3', { 'kept.js': 'k', 'new.js': 'c' }), { title: 'Third' })

  expect(await app.changes(first, third)).toEqual({
    commits: [
      { commit: third, title: 'Third', author: 'Alice', date: '2026-02-03T04:05:06.000Z' },
      expect.objectContaining({ title: expect.stringMatching(/^Second y{193}$/) }),
    ],
    commits_total: 2,
    dropped_total: 0,
    files: [
      { name: 'index.html', status: 'modified' },
      { name: 'module.json', status: 'modified' },
      { name: 'new.js', status: 'added' },
      { name: 'old.js', status: 'removed' },
    ],
    files_total: 4,
    unknown: null,
    error: null,
  })
  // The way back undoes all of it.
  expect(await app.changes(third, first)).toMatchObject({
    commits: [],
    commits_total: 0,
    dropped_total: 2,
    files: expect.arrayContaining([
      { name: 'new.js', status: 'removed' },
      { name: 'old.js', status: 'added' },
    ]),
  })
  await refused(await app.get(`/changes?from=main&to=${third}`), 400, 'invalid_request')
})

test('after a forced push the changes count the commits that are lost, or say that the installed commit is gone', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1'))
  const other = app.on.push('notes', page('2'), { onto: null })

  expect(await app.changes(first, other)).toMatchObject({ commits_total: 1, dropped_total: 1, unknown: null })
  app.on.forget(first)
  expect(await app.changes(first, other)).toMatchObject({
    commits: [],
    unknown: 'from_missing',
    error: expect.stringContaining('réécrite'),
  })
  expect(await app.changes(other, first)).toMatchObject({ unknown: 'to_missing' })
})

test('no changes are shown where a branch or a tag has the name of one of the commits, which would be compared instead', async () => {
  const named = {
    commits: [],
    files: [],
    unknown: 'forge_failed',
    error: expect.stringMatching(/^Une branche ou une étiquette \(tag\) /),
  }
  const ways = ['branch', 'tag'] as const
  for (const way of ways)
    for (const end of ['from', 'to'] as const) {
      const app = await start()
      const from = app.on.push('notes', page('1'))
      app.on.push('notes', page('2 (bad)'))
      const last = app.on.push('notes', page('3'))
      const to = app.on.push('notes', page('4'))
      if (way === 'tag') app.on.tag('notes', end === 'from' ? from : to, last)
      else app.on.pretendAt('notes', end === 'from' ? from : to, last)

      expect({ way, end, ...Object(await app.changes(from, to)) }).toMatchObject({ way, end, ...named })
      expect(await app.changes(to, from)).toMatchObject(named)
    }
})

test('no changes are shown of other commits than the asked ones, whatever the forge says of its branches', async () => {
  const app = await start()
  const from = app.on.push('notes', page('1'))
  const bad = app.on.push('notes', page('2 (bad)'))
  const last = app.on.push('notes', page('3'))
  const to = app.on.push('notes', page('4'))
  const instead = async (one: string, other: string) => {
    const answer = app.on.forge.behave
    app.on.forge.behave = (request, response) => {
      if (request.url?.includes('/compare/')) request.url = request.url.replace(one, other)
      return answer?.(request, response) ?? false
    }
    const changes = await app.changes(from, to)
    app.on.forge.behave = answer
    return changes
  }

  for (const changes of [await instead(from, last), await instead(to, bad), await instead(to, from)])
    expect(changes).toMatchObject({
      commits: [],
      unknown: 'forge_failed',
      error: expect.stringMatching(/d’autres commits/),
    })
  expect(await app.changes(from, to)).toMatchObject({ commits_total: 3, unknown: null })
})

test('a long list of changes is bounded, and one that is too long to be read says so', async () => {
  const app = await start()
  const first = app.on.push('notes', page('0'))
  let last = first
  for (let n = 1; n <= 120; n += 1)
    last = app.on.push(
      'notes',
      page(`${n}`, Object.fromEntries(Array.from({ length: 4 * n }, (_, at) => [`f${at}.js`, '']))),
    )

  const changes = await app.changes(first, last)

  expect(changes).toMatchObject({ commits_total: 120, files_total: 482 })
  expect(Object(changes).commits).toHaveLength(100)
  expect(Object(changes).files).toHaveLength(300)
  const answer = app.on.forge.behave
  app.on.forge.behave = (request, response) => {
    if (!request.url?.includes('/compare/')) return answer?.(request, response) ?? false
    response.writeHead(200, { 'content-type': 'application/json' }).end(`[${' '.repeat(5 * 1024 * 1024)}]`)
    return true
  }
  expect(await app.changes(first, last)).toMatchObject({ unknown: 'too_long' })
})

test('of a long list, the entries beyond those that are shown are not even checked', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1'))
  app.on.tag('notes', 'v1', first)
  app.on.publish('notes', 'v1')
  const answer = app.on.forge.behave
  const more = (path: string, count: number) => {
    app.on.forge.behave = async (request, response) => {
      if (!request.url?.includes(path)) return (await answer?.(request, response)) ?? false
      const { end } = response
      Object.assign(response, {
        end: (text: string) =>
          end.call(response, JSON.stringify([...JSON.parse(text), ...Array(count).fill({})]), 'utf8'),
      })
      return (await answer?.(request, response)) ?? false
    }
  }

  more('/tags?', 60_000)
  expect(await answered(await app.get('/versions'), 200)).toMatchObject({
    error: expect.stringContaining('étiquettes'),
  })
  for (let n = 2; n <= 50; n += 1) app.on.tag('notes', `v${n}`, first)
  const { tags, error } = Object(await answered(await app.get('/versions'), 200))
  expect([tags.length, error]).toEqual([50, null])
})

test('changes of more commits than anybody reads are refused before each is checked', async () => {
  const app = await start()
  const first = app.on.push('notes', page('1'))
  const second = app.on.push('notes', page('2'))
  const answer = app.on.forge.behave
  app.on.forge.behave = async (request, response) => {
    if (!request.url?.includes('/compare/')) return (await answer?.(request, response)) ?? false
    const commit = { sha: second, commit: { message: '' }, parents: [{ sha: first }] }
    const commits = request.url.includes(`..${second}`) ? Array(5_001).fill(commit) : []
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ total_commits: commits.length, commits }))
    return true
  }

  expect(await app.changes(first, second)).toMatchObject({ unknown: 'too_long', commits: [] })
})

test('tags are offered under every name that Git allows and that can be seen', async () => {
  const app = await start()
  const commit = app.on.push('notes', page('1'))
  const names = [
    'v1.0',
    'été/№1',
    'a#b',
    '100%',
    'a+b=c&d;e',
    "l'$1",
    '-x',
    'a@b',
    '{2}',
    '(v1)!',
    'a..b'.replace('..', '.-.'),
  ]
  for (const name of names) app.on.tag('notes', name, commit)
  for (const name of ['\u202ev1', 'v\u200b1', 'a b']) app.on.tag('notes', name, commit)
  for (const name of names) app.on.publish('notes', name)

  const { tags, releases } = Object(await answered(await app.get('/versions'), 200))

  expect(tags.map(({ tag }: { tag: string }) => tag)).toEqual(names)
  expect(releases.map(({ tag }: { tag: string }) => tag).sort()).toEqual([...names].sort())
  for (const tag of names) {
    const body = { tag, commit }
    const { error } = Object(
      await answered(
        await app.request('POST', `${PATH}/install`, { as: 'admin', body: { ...body, commit: UNKNOWN } }),
        409,
      ),
    )
    expect(error).toContain(commit)
  }
})

test('what several changes leave of a file is one change or none', () => {
  const of = (...statuses: ('added' | 'removed' | 'modified')[]) =>
    netFiles(statuses.map((status) => ({ filename: 'a', status }))).map(({ status }) => status)

  expect(of('added', 'modified')).toEqual(['added'])
  expect(of('added', 'removed')).toEqual([])
  expect(of('removed', 'added')).toEqual(['modified'])
  expect(of('modified', 'removed')).toEqual(['removed'])
  expect(of('added', 'removed', 'added')).toEqual(['added'])
  expect(undone([{ filename: 'a', status: 'added' }])).toEqual([{ filename: 'a', status: 'removed' }])
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { answered, refused, rows } from '../functions/answers.ts'
import { saying } from '../functions/modules/module.ts'
import { addFile, createRepository, descriptor, pushFiles, pushRef } from './content.ts'
import { type Gitea, startGitea } from './gitea.ts'
import { install, LIST, serviceFor, withDeployer } from './service.ts'

let gitea: Gitea

beforeAll(async () => {
  gitea = await startGitea()
})
afterAll(() => gitea?.close())

const Versions = z.object({ tags: z.array(z.object({ tag: z.string() })), error: z.string().nullable() })
const KINDS = ['heads', 'tags'] as const

test.each(KINDS)('a reference in refs/%s that is named like a commit does not replace its files', async (kind) => {
  const id = `code-${kind}`
  const files = (text: string) => ({
    'module.json': descriptor(id, { has_backend: true }),
    'backend.mjs': saying(id, text),
  })
  const good = await createRepository(gitea, id, files('good'))
  const app = await serviceFor(gitea)
  const { request, changes } = await withDeployer(app)
  const bad = await pushFiles(gitea, id, files('bad'), { branch: 'bad' })
  await pushRef(gitea, id, `refs/${kind}/${good}`, bad)

  const { details } = await refused(await request('POST', install(id), { commit: good }), 422, 'invalid_files')

  expect(details).toEqual([{ field: 'backend.mjs', message: expect.stringContaining(good) }])
  expect(changes).toEqual([])
  await pushRef(gitea, id, `refs/${kind}/${good}`)
  await answered(await request('POST', install(id), { commit: good }), 202)
  expect(changes[0]?.files?.all.get('backend.mjs')?.toString()).toBe(saying(id, 'good'))
})

test.each(KINDS)('a reference in refs/%s that is named like a commit hides no change', async (kind) => {
  const id = `page-${kind}`
  const app = await serviceFor(gitea)
  const from = await createRepository(gitea, id, { 'module.json': descriptor(id) })
  await addFile(gitea, id, 'bad.mjs', 'bad')
  const last = await addFile(gitea, id, 'more.mjs', 'more')
  const to = await addFile(gitea, id, 'README.md', 'harmless')
  const shown = async (one: string, other: string) =>
    answered(await app.request('GET', `${LIST}/${id}/changes?from=${one}&to=${other}`, { as: 'admin' }), 200)
  const all = { commits_total: 3, dropped_total: 0, files_total: 3, unknown: null, error: null }
  expect(await shown(from, to)).toMatchObject(all)
  expect(await shown(to, from)).toMatchObject({ commits_total: 0, dropped_total: 3, files_total: 3, unknown: null })

  for (const [end, instead] of [
    [from, last],
    [to, last],
  ] as const) {
    await pushRef(gitea, id, `refs/${kind}/${end}`, instead)

    const none = { commits: [], files: [], unknown: 'forge_failed', error: expect.stringContaining('porte le nom') }
    expect(await shown(from, to)).toMatchObject(none)
    expect(await shown(to, from)).toMatchObject(none)
    await pushRef(gitea, id, `refs/${kind}/${end}`)
    expect(await shown(from, to)).toMatchObject(all)
  }
})

test('tags are offered and installed under every name that Git allows and that can be seen', async () => {
  const id = 'tagged'
  const commit = await createRepository(gitea, id, { 'module.json': descriptor(id) })
  const names = ['v1.0.0', 'été/№1', 'a#b', '100%', '%2e%2e', 'a+b=c&d;e', "l'$1", 'a@b', '{2}', '(v1)!', 'x<y>"z"']
  for (const name of names) await pushRef(gitea, id, `refs/tags/${name}`, commit)
  const app = await serviceFor(gitea)

  const shown = await answered(await app.request('GET', `${LIST}/${id}/versions`, { as: 'admin' }), 200)

  const { tags, error } = Versions.parse(shown)
  expect({ error, tags: tags.map(({ tag }) => tag).sort() }).toEqual({ error: null, tags: [...names].sort() })
  for (const tag of names) {
    await answered(await app.request('POST', install(id), { as: 'admin', body: { tag, commit } }), 202)
    expect(await rows(app.db, `SELECT tag, "commit" FROM modules WHERE id = '${id}'`)).toEqual([{ tag, commit }])
  }
})

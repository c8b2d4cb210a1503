import { afterAll, beforeAll, expect, test } from 'vitest'
import { audited, answered, refused, rows } from '../functions/answers.ts'
import { saying } from '../functions/modules/module.ts'
import { createRepository, descriptor, pushFiles } from './content.ts'
import { ADMIN, type Gitea, ORG, READS, startGitea, STRANGER } from './gitea.ts'
import { install, listed, serviceFor, withDeployer } from './service.ts'

const LFS = `version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
`

const withCode = (id: string) => ({ 'module.json': descriptor(id, { has_backend: true }) })

let gitea: Gitea
/** The commit of each repository that was made with one. */
const commits = new Map<string, string>()

beforeAll(async () => {
  gitea = await startGitea()
  const make = async (...[name, files, more]: [string, Parameters<typeof createRepository>[2], object?]) =>
    void commits.set(name, await createRepository(gitea, name, files, more))
  await make('plain', { 'module.json': descriptor('plain') })
  await make('code', { ...withCode('code'), 'backend.mjs': saying('code', 'first') })
  await make('hidden', { 'module.json': descriptor('hidden') }, { private: true })
  await make('on-master', { 'module.json': descriptor('on-master') }, { branch: 'master' })
  await make('on-trunk', { 'module.json': descriptor('on-trunk') }, { branch: 'trunk/next' })
  await make('moved-from', { 'module.json': descriptor('moved-to') })
  await gitea.api('PATCH', `/repos/${ORG}/moved-from`, { name: 'moved-to' })

  // A fork and a mirror of repositories of the administrator's own account.
  await gitea.api('POST', '/user/repos', { name: 'forked', auto_init: true })
  await gitea.api('POST', `/repos/${ADMIN}/forked/forks`, { organization: ORG })
  commits.set('forked', await pushFiles(gitea, 'forked', { 'module.json': descriptor('forked') }))
  await make('mirror-source', { 'module.json': descriptor('mirrored') })
  await gitea.api('POST', '/repos/migrate', {
    clone_addr: `${gitea.url}/${ORG}/mirror-source.git`,
    repo_owner: ORG,
    repo_name: 'mirrored',
    mirror: true,
    service: 'git',
  })
  commits.set('mirrored', commits.get('mirror-source') ?? '')

  await make('put-away', { 'module.json': descriptor('put-away') })
  await gitea.api('PATCH', `/repos/${ORG}/put-away`, { archived: true })
  await gitea.api('POST', `/orgs/${ORG}/repos`, { name: 'nothing' })
  await make('closed', { 'module.json': descriptor('closed') })
  await gitea.api('PATCH', `/repos/${ORG}/closed`, { has_code: false })
  await make('Bad_Name.js', { 'module.json': descriptor('bad') })
  await make('readme', { 'README.md': 'x' })
  await make('folder', { 'module.json/x': 'x' })
  await make('submodule', { 'module.json': { commit: '1'.repeat(40) }, 'README.md': 'x' })
  await make('blank', { 'module.json': '' })
  await make('no-json', { 'module.json': '{' })
  await make('misnamed', { 'module.json': descriptor('another') })
  await make('link', { 'module.json': { link: 'other.json' }, 'other.json': descriptor('link') })
  await make('large', { 'module.json': LFS })
  await make('long', { 'module.json': `${descriptor('long')}${' '.repeat(70_000)}` })
  await make('code-link', {
    ...withCode('code-link'),
    'backend.mjs': { link: 'a.mjs' },
    'a.mjs': saying('code-link', 'x'),
  })
  await make('code-large', { ...withCode('code-large'), 'backend.mjs': LFS })
  await make('code-missing', withCode('code-missing'))
})
afterAll(() => gitea?.close())

const MODULES = [
  ...['code', 'code-large', 'code-link', 'code-missing', 'forked', 'mirrored', 'moved-to', 'on-master', 'on-trunk'],
  'plain',
]
const LEFT = {
  archived: ['put-away'],
  empty: ['nothing'],
  no_code: ['closed'],
  bad_name: ['Bad_Name.js'],
  no_descriptor: ['folder', 'readme', 'submodule'],
  invalid_descriptor: ['blank', 'mirror-source', 'misnamed', 'no-json'],
  symlink: ['link'],
  lfs_pointer: ['large'],
  too_large: ['long'],
}

test('every kind of repository is offered at its commit, or left out with the reason', async () => {
  const app = await serviceFor(gitea)

  const { modules, error, left } = await listed(app)

  expect(error).toBeNull()
  expect([...modules.keys()].sort()).toEqual([...MODULES, 'hidden'].sort())
  expect(left).toEqual(LEFT)
  for (const [id, { commit, repository }] of modules) {
    if (id !== 'moved-to') expect({ id, commit }).toEqual({ id, commit: commits.get(id) })
    expect(repository).toBe(`${gitea.url}/${ORG}/${id}`)
  }
})

test('an account outside of the organisation is offered all but the private module, without an error', async () => {
  const app = await serviceFor({ url: gitea.url, token: await gitea.tokenFor(STRANGER, READS) })

  const { modules, error, left } = await listed(app)

  expect({ error, left }).toEqual({ error: null, left: LEFT })
  expect([...modules.keys()].sort()).toEqual(MODULES)
  await refused(await app.request('POST', install('hidden'), { as: 'admin' }), 404, 'repository_missing')
})

test('exactly the shown commit is installed: after a forced push the list must be read again', async () => {
  const app = await serviceFor(gitea)
  const before = (await listed(app)).modules.get('plain')?.commit
  const post = (commit: unknown) => app.request('POST', install('plain'), { as: 'admin', body: { commit } })
  const next = await pushFiles(gitea, 'plain', { 'module.json': descriptor('plain', { version: '2.0.0' }) })

  const { error } = await refused(await post(before), 409, 'commit_changed')

  expect(error).toContain(next)
  expect(await audited(app.db)).toEqual([])
  const shown = (await listed(app)).modules.get('plain')
  expect(shown).toMatchObject({ commit: next, version: '2.0.0' })
  await answered(await post(next), 202)
  expect(await rows(app.db, `SELECT version, "commit" FROM modules WHERE id = 'plain'`)).toEqual([
    { version: '2.0.0', commit: next },
  ])
})

test.each(['put-away', 'nothing', 'closed', 'absent', 'moved-from', 'bad-name'])(
  'nothing is installed from « %s », which is none of the offered repositories',
  async (id) => {
    const app = await serviceFor(gitea)

    await refused(await app.request('POST', install(id), { as: 'admin' }), 404, 'repository_missing')

    expect(await audited(app.db)).toEqual([])
  },
)

test.each([
  ['readme', 'module.json'],
  ['blank', 'JSON'],
  ['misnamed', 'misnamed'],
  ['link', 'lien symbolique'],
  ['large', 'LFS'],
  ['long', '64 Kio'],
])('the descriptor of « %s » is refused before the installation, with the reason: %s', async (id, reason) => {
  const app = await serviceFor(gitea)

  const { details } = await refused(await app.request('POST', install(id), { as: 'admin' }), 422, 'invalid_descriptor')

  expect(JSON.stringify(details)).toContain(reason)
  expect(await audited(app.db)).toEqual([])
})

test.each([
  ['code-link', 'lien symbolique'],
  ['code-large', 'LFS'],
  ['code-missing', 'n’existe pas'],
])('the code of « %s » is refused before the installation, with the reason: %s', async (id, reason) => {
  const app = await serviceFor(gitea)
  const { request, changes } = await withDeployer(app)

  const { details } = await refused(await request('POST', install(id)), 422, 'invalid_files')

  expect(details).toEqual([{ field: 'backend.mjs', message: expect.stringContaining(reason) }])
  expect([changes, await audited(app.db)]).toEqual([[], []])
})

test('the code of a module is that of the shown commit', async () => {
  const app = await serviceFor(gitea)
  const shown = (await listed(app)).modules.get('code')?.commit
  const { request, changes } = await withDeployer(app)
  const post = () => request('POST', install('code'), { commit: shown })

  await answered(await post(), 202)

  expect(changes[0]?.files?.commit).toBe(shown)
  expect(changes[0]?.files?.all.get('backend.mjs')?.toString()).toBe(saying('code', 'first'))
  const next = { ...withCode('code'), 'backend.mjs': saying('code', 'second') }
  await pushFiles(gitea, 'code', next)
  await refused(await post(), 409, 'commit_changed')
  expect(changes).toHaveLength(1)
})

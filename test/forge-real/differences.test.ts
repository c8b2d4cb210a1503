import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type TestForge } from '../forge.ts'
import { type ForgeRepository, LFS_POINTER } from '../forge-repository.ts'
import { createRepository, descriptor, pushFiles } from './content.ts'
import { ADMIN, type Gitea, ORG, READS, startGitea, STRANGER } from './gitea.ts'
import { inCommon } from './in-common.ts'

/** The same in the real forge and in its stand-in. */
const REPOSITORIES: readonly ForgeRepository[] = [
  {
    name: 'plain',
    description: 'Un dépôt.',
    branches: { main: { files: { 'module.json': descriptor('plain'), 'src/a.mjs': 'a', none: '' } } },
  },
  { name: 'old', branches: { master: { files: { 'module.json': descriptor('old') } } } },
  { name: 'Nothing_in.it', branches: { 'next/one': { files: { 'README.md': 'x' } } } },
  { name: 'hidden', private: true, branches: { main: { files: { 'module.json': descriptor('hidden') } } } },
  { name: 'put-away', archived: true, branches: { main: { files: { 'module.json': descriptor('put-away') } } } },
  { name: 'closed', hasCode: false, branches: { main: { files: { 'module.json': descriptor('closed') } } } },
  { name: 'link', branches: { main: { files: { 'module.json': { link: 'a.json' }, 'a.json': '{}' } } } },
  { name: 'large', branches: { main: { files: { 'module.json': LFS_POINTER } } } },
  { name: 'nothing', empty: true, branches: {} },
]
/** Renamed to `to`. */
const RENAMED: ForgeRepository = { name: 'from', branches: { main: { files: { 'module.json': descriptor('to') } } } }
const FORK = { main: { files: { 'module.json': descriptor('forked') } } }

let gitea: Gitea
let standIn: TestForge
/** The stand-in as an account outside of the organisation finds it. */
let outside: TestForge
const tokens: Record<string, string | undefined> = { nobody: undefined, 'an invalid token': '0'.repeat(40) }

beforeAll(async () => {
  gitea = await startGitea()
  tokens['the administrator'] = gitea.token
  tokens['an outsider'] = await gitea.tokenFor(STRANGER, READS)
  standIn = await startForge({ org: ORG, token: gitea.token })
  outside = await startForge({ org: ORG, token: tokens['an outsider'] })

  for (const repository of REPOSITORIES) await create(repository)
  await gitea.api('POST', '/user/repos', { name: 'forked', auto_init: true })
  await gitea.api('POST', `/repos/${ADMIN}/forked/forks`, { organization: ORG })
  await pushFiles(gitea, 'forked', FORK.main.files)
  await create(RENAMED)
  await gitea.api('PATCH', `/repos/${ORG}/from`, { name: 'to' })
  for (const forge of [standIn, outside]) {
    for (const repository of REPOSITORIES) forge.put(forge === outside ? asOutside(repository) : repository)
    forge.put({ name: 'forked', forkOf: `${forge.url}/${ADMIN}/forked`, branches: FORK })
    forge.put(RENAMED)
    forge.rename('from', 'to')
  }
})
afterAll(async () => {
  await standIn?.close()
  await outside?.close()
  await gitea?.close()
})

const LIST = `/orgs/${ORG}/repos`
const home = `/repos/${ORG}`
const NO_COMMIT = '0123456789'.repeat(4)

test.each([
  ['the administrator', LIST],
  ['the administrator', `${LIST}?page=1&limit=50`],
  ['the administrator', `${LIST}?page=1&limit=3`],
  ['the administrator', `${LIST}?page=2&limit=3`],
  ['the administrator', `${LIST}?page=4&limit=3`],
  ['the administrator', `${LIST}?page=9&limit=3`],
  ['nobody', `${LIST}?page=1&limit=50`],
  ['nobody', `${LIST}?page=2&limit=3`],
  ['nobody', `${LIST}?page=9&limit=3`],
  ['an outsider', `${LIST}?page=1&limit=50`],
  ['an outsider', `${LIST}?page=2&limit=3`],
  ['an invalid token', LIST],
  ['the administrator', `/orgs/nobody-knows/repos`],
  ['the administrator', `/orgs/${ADMIN}/repos`],
  ['the administrator', `${home}/plain`],
  ['nobody', `${home}/put-away`],
  ['the administrator', `${home}/hidden`],
  ['nobody', `${home}/hidden`],
  ['an outsider', `${home}/hidden`],
  ['an invalid token', `${home}/plain`],
  ['an outsider', `${home}/closed`],
  ['nobody', `${home}/nothing`],
  ['nobody', `${home}/forked`],
  ['nobody', `${home}/from`],
  ['nobody', `${home}/to`],
  ['the administrator', `${home}/absent`],
  ['the administrator', `${home}/plain/branches/main`],
  ['the administrator', `${home}/plain/branches/master`],
  ['nobody', `${home}/old/branches/master`],
  ['nobody', `${home}/Nothing_in.it/branches/next/one`],
  ['nobody', `${home}/from/branches/main`],
  ['nobody', `${home}/nothing/branches/main`],
  ['nobody', `${home}/hidden/branches/main`],
  ['an outsider', `${home}/closed/branches/main`],
  ['the administrator', `${home}/plain/raw/module.json?ref=main`],
  ['nobody', `${home}/plain/raw/module.json`],
  ['nobody', `${home}/old/raw/module.json`],
  ['nobody', `${home}/plain/raw/src/a.mjs?ref=main`],
  ['nobody', `${home}/plain/raw/none?ref=main`],
  ['nobody', `${home}/plain/raw/src?ref=main`],
  ['nobody', `${home}/plain/raw/module.json?ref=no-branch`],
  ['nobody', `${home}/plain/raw/module.json?ref=${NO_COMMIT}`],
  ['nobody', `${home}/Nothing_in.it/raw/README.md?ref=next/one`],
  ['nobody', `${home}/Nothing_in.it/raw/module.json?ref=next/one`],
  ['nobody', `${home}/link/raw/module.json?ref=main`],
  ['nobody', `${home}/large/raw/module.json?ref=main`],
  ['nobody', `${home}/nothing/raw/module.json?ref=main`],
  ['nobody', `${home}/hidden/raw/module.json?ref=main`],
  ['an outsider', `${home}/closed/raw/module.json?ref=main`],
  ['nobody', `${home}/from/raw/module.json?ref=main`],
  ['nobody', `${home}/plain/contents/module.json?ref=main`],
  ['nobody', `${home}/plain/contents/absent.json?ref=main`],
  ['nobody', `${home}/plain/contents/module.json?ref=no-branch`],
  ['nobody', `${home}/link/contents/module.json?ref=main`],
  ['nobody', `/version`],
  ['an invalid token', `/version`],
])('the stand-in and a real forge answer alike: for %s at %s', async (who, path) => {
  const { url } = who === 'an outsider' ? outside : standIn

  const [real, imitated] = await Promise.all([ask(gitea.url, who, path), ask(url, who, path)])

  expect(imitated).toEqual(real)
})

/** The parts of an answer that the service reads; differences that are right are made equal. */
async function ask(url: string, who: string, path: string) {
  const token = tokens[who]
  const headers = token === undefined ? {} : { authorization: `token ${token}` }
  return inCommon(await fetch(`${url}/api/v1${path}`, { headers, redirect: 'manual' }), url)
}

async function create(repository: ForgeRepository): Promise<void> {
  const { name, branches, description, archived, empty, hasCode = true } = repository
  const more = { private: repository.private ?? false, ...(description && { description }) }
  const [[branch, { files }] = ['main', { files: {} }]] = Object.entries(branches)
  if (empty) await gitea.api('POST', `/orgs/${ORG}/repos`, { name })
  else await createRepository(gitea, name, files, { branch, ...more })
  if (archived) await gitea.api('PATCH', `/repos/${ORG}/${name}`, { archived })
  if (!hasCode) await gitea.api('PATCH', `/repos/${ORG}/${name}`, { has_code: false })
}

function asOutside(repository: ForgeRepository): ForgeRepository {
  return repository.private ? { ...repository, hidden: true } : repository
}

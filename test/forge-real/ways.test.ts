import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { answered, audited } from '../functions/answers.ts'
import { createRepository, descriptor } from './content.ts'
import { type Gitea, ORG, startGitea } from './gitea.ts'
import { type ForgeProxy, startProxy } from './proxy.ts'
import { install, listed, serviceFor } from './service.ts'

let gitea: Gitea
let proxy: ForgeProxy

beforeAll(async () => {
  proxy = await startProxy({ path: '/git' })
  gitea = await startGitea({ rootUrl: `${proxy.url}/` })
  proxy.to = gitea.url
  for (const id of ['first', 'second', 'third']) await createRepository(gitea, id, { 'module.json': descriptor(id) })
})
beforeEach(() => {
  proxy.behave = undefined
})
afterAll(async () => {
  await proxy?.close()
  await gitea?.close()
})

test('a forge below a path of a proxy is read there, and modules are linked there', async () => {
  const app = await serviceFor({ url: proxy.url, token: gitea.token })

  const { modules, error } = await listed(app)

  expect(error).toBeNull()
  expect([...modules.values()].map(({ repository }) => repository)).toEqual([
    `${proxy.url}/${ORG}/first`,
    `${proxy.url}/${ORG}/second`,
    `${proxy.url}/${ORG}/third`,
  ])
  const body = { commit: modules.get('first')?.commit }
  await answered(await app.request('POST', install('first'), { as: 'admin', body }), 202)
})

test.each([
  ['without its path', () => new URL(proxy.url).origin],
  ['with another path', () => `${new URL(proxy.url).origin}/forge`],
])('an address %s is an error, not an empty list', async (_, url) => {
  const app = await serviceFor({ url: url(), token: gitea.token })

  const { modules, error } = await listed(app)

  expect(modules.size).toBe(0)
  expect(error).toMatch(/^La forge ne peut pas être lue : /)
})

test('a renamed repository in the way of the list is followed below the path', async () => {
  await createRepository(gitea, 'fourth', { 'module.json': descriptor('fifth') })
  const app = await serviceFor({ url: proxy.url, token: gitea.token })
  // Between the list and the reading of a repository it gets another name.
  let renamed: Promise<unknown> | undefined
  proxy.behave = (request, response) => {
    if (renamed || !request.url?.includes('/fourth/')) return false
    renamed = gitea.api('PATCH', `/repos/${ORG}/fourth`, { name: 'fifth' }).then(() => {
      response.writeHead(307, { location: request.url ?? '' }).end()
    })
    return true
  }

  const { modules, error } = await listed(app)
  await renamed

  expect(error).toBeNull()
  expect(modules.has('fourth')).toBe(false)
  expect((await listed(app)).modules.has('fifth')).toBe(true)
  await gitea.api('DELETE', `/repos/${ORG}/fifth`)
})

test('a forge that is frozen keeps nobody waiting for long: the last list stays, with the error', async () => {
  const app = await serviceFor({ url: proxy.url, token: gitea.token })
  const before = (await listed(app)).modules
  gitea.freeze()
  try {
    const frozen = await listed(app)

    expect(frozen.error).toMatch(/^La forge ne peut pas être lue : aucune réponse de /)
    expect([...frozen.modules.keys()]).toEqual([...before.keys()])
  } finally {
    gitea.thaw()
  }
  expect(await listed(app)).toMatchObject({ error: null, modules: before })
  expect(await audited(app.db)).toEqual([])
})

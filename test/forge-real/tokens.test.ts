import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository, descriptor } from './content.ts'
import { ADMIN, type Gitea, ORG, READS, startGitea } from './gitea.ts'
import { listed, serviceFor } from './service.ts'

let gitea: Gitea

beforeAll(async () => {
  gitea = await startGitea()
  await createRepository(gitea, 'open', { 'module.json': descriptor('open') })
  await createRepository(gitea, 'secret', { 'module.json': descriptor('secret') }, { private: true })
})
afterAll(() => gitea?.close())

const tokens: Readonly<Record<string, () => Promise<string | undefined>>> = {
  'with both scopes': () => gitea.tokenFor(ADMIN, READS),
  'with all rights': async () => gitea.token,
  none: async () => undefined,
  'for public repositories only': () => gitea.tokenFor(ADMIN, `public-only,${READS}`),
  'without read:organization': () => gitea.tokenFor(ADMIN, 'read:repository'),
  'without read:repository': () => gitea.tokenFor(ADMIN, 'read:organization'),
  'that is invalid': async () => '0'.repeat(40),
}

test.each<[string, string[], RegExp | null]>([
  ['with both scopes', ['open', 'secret'], null],
  ['with all rights', ['open', 'secret'], null],
  ['none', ['open'], null],
  ['for public repositories only', ['open'], /secret/],
  ['without read:organization', [], /^La forge ne peut pas être lue : .*read:organization/],
  ['without read:repository', [], /open, secret/],
  ['that is invalid', [], /^La forge ne peut pas être lue : .*HTTP 401/],
])('a token %s gives %j', async (which, ids, reason) => {
  const app = await serviceFor({ url: gitea.url, token: await tokens[which]?.() })

  const { modules, error } = await listed(app)

  expect([...modules.keys()]).toEqual(ids)
  if (reason) expect(error).toMatch(reason)
  else expect(error).toBeNull()
})

test('neither an account nor a missing organisation is an empty one', async () => {
  for (const org of [ADMIN, 'nobody-knows']) {
    const app = await serviceFor({ url: gitea.url, token: gitea.token, org })

    const { modules, error } = await listed(app)

    expect(modules.size).toBe(0)
    expect(error).toContain(`« ${org} »`)
  }
  const app = await serviceFor({ url: gitea.url, token: gitea.token, org: ORG.toUpperCase() })
  expect((await listed(app)).modules.size).toBe(2)
})

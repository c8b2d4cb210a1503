import { afterAll, beforeAll, expect, test } from 'vitest'
import { adoptRepositories, descriptor } from './content.ts'
import { type Gitea, startGitea } from './gitea.ts'
import { listed, serviceFor } from './service.ts'

const ALL = 1_000
const MODULES = 300

let gitea: Gitea

beforeAll(async () => {
  gitea = await startGitea()
  const numbers = Array.from({ length: ALL }, (_, n) => n)
  await adoptRepositories(
    gitea,
    new Map(
      numbers.map((n) => [
        `r${n}`,
        n < MODULES ? { 'module.json': descriptor(`r${n}`), 'README.md': 'x' } : { 'README.md': `${n}` },
      ]),
    ),
  )
})
afterAll(() => gitea?.close())

test('an organisation of a thousand repositories is listed whole', async () => {
  const app = await serviceFor(gitea)
  const timed = async () => {
    const began = performance.now()
    const found = await listed(app)
    return { ...found, seconds: ((performance.now() - began) / 1_000).toFixed(1) }
  }

  const first = await timed()
  const again = await timed()

  console.log(`${ALL} repositories, ${MODULES} modules: ${first.seconds} s; read again: ${again.seconds} s`)
  for (const { modules, error, groups } of [first, again]) {
    expect(error).toBeNull()
    expect(modules.size).toBe(MODULES)
    expect(groups).toMatchObject([{ code: 'no_descriptor', count: ALL - MODULES }])
  }
})

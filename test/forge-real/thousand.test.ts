import { afterAll, beforeAll, expect, test } from 'vitest'
import { START } from '../app.ts'
import { adoptRepositories, descriptor } from './content.ts'
import { type Gitea, startGitea } from './gitea.ts'
import { listed, serviceFor } from './service.ts'

/*
 * Gitea's own work limits these times, not the service: for each request with a token it writes the time of the token's
 * last use into its database (services/auth/oauth2.go), one after another. Its version takes 7.5 ms of a processor
 * and 22 ms of the clock with a token, six at once, and 0.5 and 3 without one; the files of a branch take 11 and 25 with
 * one, and twelve at once are no faster. One request for each repository and one more for each module are the fewest that
 * its API allows.
 */
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
    const [began, own, forge] = [performance.now(), process.cpuUsage(), await gitea.cpuSeconds()]
    const found = await listed(app)
    const wall = (performance.now() - began) / 1_000
    const { user, system } = process.cpuUsage(own)
    const cpu = [(user + system) / 1_000_000, (await gitea.cpuSeconds()) - forge].map((used) => used.toFixed(1))
    return { ...found, took: `${wall.toFixed(1)} s (processor: service ${cpu[0]} s, forge ${cpu[1]} s)` }
  }

  const first = await timed()
  const again = await timed()
  // Times of changes are settled after a minute, and the service's own clock stands still.
  app.advance(Date.now() - START.getTime() + 120_000)
  await timed()
  const settled = await timed()

  console.log(
    `${ALL} repositories, ${MODULES} modules: ${first.took}; read again: ${again.took}; read again later: ${settled.took}`,
  )
  for (const { modules, error, groups } of [first, again, settled]) {
    expect(error).toBeNull()
    expect(modules.size).toBe(MODULES)
    expect(groups).toMatchObject([{ code: 'no_descriptor', count: ALL - MODULES }])
  }
})

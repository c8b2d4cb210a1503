import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { functions } from '../../functions/index.ts'
import type { Deployer } from '../../modules/deploy/deployer.ts'
import { mount } from '../app.ts'
import { answered } from '../functions/answers.ts'
import { withModules } from '../functions/modules/module.ts'
import { ORG } from './gitea.ts'

export const LIST = '/api/registry/modules'
export const install = (id: string) => `${LIST}/${id}/install`

const Listed = z.object({
  modules: z.array(z.looseObject({ id: z.string(), commit: z.string(), repository: z.string() })),
  error: z.string().nullable(),
  reading: z.boolean(),
  left: z.array(
    z.object({
      code: z.string(),
      reason: z.string(),
      count: z.number(),
      repositories: z.array(z.object({ name: z.string(), detail: z.string().nullable() })),
    }),
  ),
})

/** All functions of the service, with a forge at `url`, read with `token`. */
export function serviceFor({ url = '', token, org = ORG }: { url?: string; token?: string | undefined; org?: string }) {
  return withModules([], {
    env: { PANEL_FORGE_URL: url, PANEL_FORGE_ORG: org, ...(token !== undefined && { PANEL_FORGE_TOKEN: token }) },
  })
}

/**
 * Reads the forge now, to the end, and returns what the service offers, and the names of what it leaves out by the code
 * of the reason.
 */
export async function listed(app: Awaited<ReturnType<typeof serviceFor>>) {
  const read = async (query: string) =>
    Listed.parse(await answered(await app.request('GET', `${LIST}${query}`, { as: 'admin' }), 200))
  let { modules, error, left, reading } = await read('?refresh=1')
  // A large list goes on behind the answer.
  while (reading) {
    await delay(200)
    ;({ modules, error, left, reading } = await read(''))
  }
  const names = left.map(({ code, repositories }) => [code, repositories.map(({ name }) => name).sort()] as const)
  return {
    modules: new Map(modules.map((module) => [module.id, module])),
    error,
    left: Object.fromEntries(names),
    groups: left,
  }
}

/** Mounts the service with a deployer that notes what it shall do. */
export async function withDeployer(app: Awaited<ReturnType<typeof serviceFor>>) {
  const changes: Parameters<Deployer['begin']>[0][] = []
  const deployer: Deployer = {
    async begin(change) {
      changes.push(change)
      await app.db.batch(change.announce ? [change.announce] : [])
      return 'the-deployment'
    },
    idle: async () => {},
    stop: async () => {},
  }
  const { request } = mount(functions, { ...app.services, deployer })
  const headers = { authorization: `Bearer ${await app.tokenFor('admin')}`, 'content-type': 'application/json' }
  return {
    changes,
    request: (method: string, path: string, body?: unknown) =>
      request(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
  }
}

import { startWorld } from '../property/world.ts'
import { createDriver } from './driver.ts'
import { readOpenApi } from './openapi.ts'
import type { Given } from './sending.ts'

/** The whole service, the document that it serves, and a driver that knows nothing but that and the credentials. */
export async function startServedWorld(options: { installed?: boolean; running?: boolean } = {}) {
  const world = await startWorld({ ...options, called: true })
  const openapi = readOpenApi(await (await fetch(`${world.url}/api/openapi.json`)).json())
  const given = givenOf(world)
  const driver = createDriver(world, openapi, {
    given,
    // Deployments are told only to who has just begun one, and those of this world would fail.
    seeds: { DeploymentId: world.deployments },
    // Which texts are targets is for the host to say, which knows its containers.
    stateCodes: ['target_invalid'],
  })
  return { url: world.url, openapi, given, driver }
}

function givenOf({ known }: Awaited<ReturnType<typeof startWorld>>): Given {
  const [setup_token] = known.setup
  const [ssh_host] = known.host
  const [ssh_password] = known.password
  const [ssh_host_key] = known.hostkey
  return {
    tokens: { user: known.user, admin: known.admin },
    cookies: { svc_refresh: known.refresh },
    values: {
      ...{ username: 'demo', password: 'demo' },
      ...{ setup_token, ssh_host, ssh_username: 'panel', ssh_password, ssh_host_key },
      // The newest, whichever module it is of.
      commit: undefined,
    },
    address: (n) => [['X-Forwarded-For', `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`]],
  }
}

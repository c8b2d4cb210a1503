import { httpReceiver } from '../notifications/receivers.ts'
import { startWorld } from '../property/world.ts'
import { createDriver } from './driver.ts'
import { type OpenApi, readOpenApi } from './openapi.ts'
import type { Given } from './sending.ts'

/** By their text: every service of a test run serves the same one. */
const documents = new Map<string, OpenApi>()

async function servedDocument(url: string): Promise<OpenApi> {
  const text = await (await fetch(`${url}/api/openapi.json`)).text()
  const document = documents.get(text) ?? readOpenApi(JSON.parse(text))
  documents.set(text, document)
  return document
}

/** The whole service, its served document, and a driver that knows only this document and the credentials. */
export async function startServedWorld(options: { installed?: boolean; running?: boolean; oidc?: boolean } = {}) {
  const world = await startWorld({ ...options, realisticIds: true })
  const openapi = await servedDocument(world.url)
  const given = givenOf(world)
  const channels = options.installed === false ? [] : [await addChannel(world.url, given.tokens.admin[0] ?? '')]
  const driver = createDriver(world, openapi, {
    given,
    // Only the request that starts a deployment returns its id, and deployments in this world fail. A plan in an answer
    // is often used up. Most channels lead nowhere.
    seeds: { DeploymentId: world.deployments, PlanId: world.known.plan, ChannelId: channels },
    // Only the host knows which containers are valid targets.
    stateCodes: ['target_invalid', 'token_expiry_invalid', 'channel_secret_required', 'schedule_invalid'],
  })
  return { url: world.url, openapi, given, driver }
}

/** Adds a channel with a receiver that takes every message. */
async function addChannel(url: string, token: string): Promise<string> {
  const receiver = await httpReceiver()
  const answer = await fetch(`${url}/api/notifications/channels`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'taken', kind: 'webhook', settings: { url: receiver.url, secret: 'x' } }),
  })
  return Object(await answer.json()).id
}

const parsed = (body: string): unknown => JSON.parse(body)

function givenOf({ known }: Awaited<ReturnType<typeof startWorld>>): Given {
  const [setup_token] = known.setup
  const [ssh_host] = known.host
  const [ssh_password] = known.password
  const [ssh_host_key] = known.hostkey
  const wizard = { setup_token, ssh_host, ssh_username: 'panel', ssh_password, ssh_host_key }
  return {
    tokens: { user: known.user, admin: known.admin },
    cookies: { svc_refresh: known.refresh },
    values: {
      ...{ username: 'demo', password: 'demo', confirm: 'pve' },
      ...{ setup_token, ssh_host, ssh_username: 'panel', ssh_password, ssh_host_key },
      // The newest commit, whatever the module.
      commit: undefined,
    },
    bodies: {
      'POST /api/auth/factors/totp/confirm': known.enrolment.map((challenge) => ({ challenge, code: known.code[0] })),
      'POST /api/auth/login/answers': known.signin.map((challenge, n) => ({
        ...{ challenge, factor: 'recovery', answers: [known.recovery[n]] },
      })),
      'POST /api/auth/factors/passkeys': known.newpasskey.map(parsed),
      'POST /api/auth/login/passkey': known.passkeysignin.map(parsed),
      'POST /api/auth/oidc/answer': known.oidcanswer.map(parsed),
      'POST /api/auth/tokens': ['viewer', 'operator'].map((role) => ({ name: `a ${role}`, role, targets: 'all' })),
      'POST /api/registry/modules/{id}/install': [{}],
      'POST /api/install': [wizard],
      'POST /api/install/check': [{ ...wizard, ssh_host_key: undefined }],
      'POST /api/auth/enrol': known.linkuse.map(parsed),
      'POST /api/auth/enrol/options': known.link.map((code) => ({ code })),
      'POST /api/auth/step-up': known.recovery.map((code) => ({ factor: 'recovery', answers: [code] })),
    },
    address: (n) => [['X-Forwarded-For', `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`]],
  }
}

import * as z from 'zod'
import { defineFunction } from '../services.ts'
import { FORGE_CHECKS, testForge } from './checks.ts'
import { FORGE_SETTINGS } from './settings.ts'

const { forge_url, forge_org, forge_token, forge_fingerprint } = FORGE_SETTINGS.fields

export default defineFunction({
  method: 'POST',
  path: '/api/settings/forge/test',
  summary: 'Test the forge',
  description:
    'Asks the forge everything that installing modules needs, and stores nothing: `checks` has the answers in their order, up to the first one without which the next question makes no sense. Values of the body stand in place of the stored ones. The stored token goes to the origin that it was stored for alone, and only with the stored `forge_fingerprint`. `fingerprint` is the SHA-256 of a certificate that nobody vouches for; nothing was sent to that server.',
  auth: 'admin',
  stepUp: true,
  // As few as for a host's key, because each request makes the service connect to any address.
  rateLimit: { limit: 30, seconds: 60, by: 'address' },
  audit: false,
  request: { body: z.strictObject({ forge_url, forge_org, forge_token, forge_fingerprint }).partial() },
  response: z.object({
    checks: z.array(z.object({ id: z.enum(FORGE_CHECKS), ok: z.boolean(), message: z.string() })),
    fingerprint: z.string().nullable(),
  }),
  example: {
    body: { forge_url: 'https://forge.example', forge_org: 'panel-modules' },
    response: {
      checks: [{ id: 'reachable', ok: true, message: 'https://forge.example répond.' }],
      fingerprint: null,
    },
  },
  errors: ['forge_missing', 'forge_token_unreadable'],

  async handler({ body }, { settings, config, fail }) {
    const change = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
    const address = await settings.forgeWith(change, config.forge)
    if (!address) throw fail('forge_missing')
    return testForge(address)
  },
})

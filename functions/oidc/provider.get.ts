import * as z from 'zod'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/auth/oidc',
  summary: 'The provider by which people sign in',
  description: 'Names the provider of `PANEL_OIDC_ISSUER` as the sign-in page shows it; null where there is none.',
  auth: 'none',
  rateLimit: { limit: 1200, seconds: 60, by: 'address' },
  response: z.object({ name: z.string().nullable() }),
  example: { response: { name: 'Keycloak' } },

  handler: (_, { config }) => ({ name: config.oidc?.name ?? null }),
})

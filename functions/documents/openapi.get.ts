import * as z from 'zod'
import { cachedJson } from '../../runtime/json-stream.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/openapi.json',
  area: 'documents',
  summary: 'The endpoints',
  description:
    'Describes every endpoint of the service, for programs: OpenAPI 3.1. The endpoints of each enabled module are in it under a tag of their own, for callers who are signed in.',
  auth: 'optional',
  targets: 'none',
  rateLimit: { limit: 600, seconds: 60, by: 'address' },
  response: z.looseObject({ openapi: z.string() }),

  handler: async (_, { documents, modules, user }) =>
    cachedJson(await documents.openApi(user ? await modules.documented() : [])),
})

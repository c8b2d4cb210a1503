import * as z from 'zod'
import { cachedJson } from '../../runtime/json-stream.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/asyncapi.json',
  area: 'documents',
  summary: 'The WebSockets',
  description: 'Describes every WebSocket of the service, for programs: AsyncAPI 3.0.',
  auth: 'none',
  rateLimit: { limit: 600, seconds: 60, by: 'address' },
  response: z.looseObject({ asyncapi: z.string() }),

  handler: async (_, { documents }) => cachedJson(await documents.asyncApi()),
})

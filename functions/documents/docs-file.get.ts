import * as z from 'zod'
import { AssetAnswer } from '../../runtime/asset.ts'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/docs/:file',
  area: 'documents',
  summary: 'A file of the documentation page',
  description:
    'Returns a script or style of the page. Browsers may cache it, because its name changes with its content.',
  auth: 'none',
  rateLimit: { limit: 600, seconds: 60, by: 'address' },
  request: {
    params: z.object({ file: z.enum(['docs.css', 'docs.js', 'swagger-ui.css', 'swagger-ui.js']) }),
    query: z.object({ v: z.string().optional() }),
  },
  response: z.string(),
  contentType: 'text/*',

  handler: ({ params: { file }, query: { v } }) => new AssetAnswer(file, { as: 'version', version: v }),
})

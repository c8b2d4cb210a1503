import * as z from 'zod'
import { defineFunction } from '../services.ts'
import { DOCS_POLICY, docsPage } from './docs-page.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/docs',
  area: 'documents',
  summary: 'The documentation page',
  description: 'Returns a page that shows `/api/openapi.json` and sends requests from the browser.',
  auth: 'none',
  rateLimit: { limit: 600, seconds: 60, by: 'address' },
  response: z.string(),
  headers: { 'content-security-policy': 'The page may load nothing from elsewhere.' },
  contentType: 'text/html; charset=utf-8',

  handler(_, { header }) {
    header('content-security-policy', DOCS_POLICY)
    return docsPage()
  },
})

import * as z from 'zod'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/docs/',
  area: 'documents',
  document: false,
  summary: 'Redirect to the documentation page',
  description: 'Redirects to `/api/docs`, because the page links its files relative to its own address.',
  auth: 'none',
  rateLimit: { limit: 600, seconds: 60, by: 'address' },
  status: 308,
  response: z.string(),
  headers: { location: 'The relative address of the page, which is right below any path of a proxy.' },
  contentType: 'text/plain; charset=utf-8',

  handler(_, { header }) {
    header('location', '../docs')
    return 'The page is at /api/docs.\n'
  },
})

import * as z from 'zod'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/docs/',
  area: 'documents',
  document: false,
  summary: 'The way to that page',
  description: 'Leads to `/api/docs`, which names what it needs by where it lies itself.',
  auth: 'none',
  rateLimit: { limit: 600, seconds: 60, by: 'address' },
  status: 308,
  response: z.string(),
  headers: { location: 'Where the page is, below whichever path a proxy serves it.' },
  contentType: 'text/plain; charset=utf-8',

  handler(_, { header }) {
    header('location', '../docs')
    return 'The page is at /api/docs.\n'
  },
})

import * as z from 'zod'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/metrics',
  summary: 'Metrics',
  description: 'What Prometheus asks for, where `PANEL_METRICS` is on; else nothing is here.',
  auth: 'none',
  rateLimit: { limit: 600, seconds: 60, by: 'address' },
  response: z.string(),
  contentType: 'text/plain; version=0.0.4; charset=utf-8',
  errors: ['not_found'],

  async handler(_, { metrics, fail }) {
    if (!metrics) throw fail('not_found')
    return metrics.text()
  },
})

import * as z from 'zod'
import { defineFunction } from '../services.ts'

export default defineFunction({
  method: 'GET',
  path: '/metrics',
  summary: 'Metrics',
  description:
    'Returns metrics in the format of Prometheus if `PANEL_METRICS` is on; otherwise the address does not exist.',
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

import * as z from 'zod'
import { readAudit } from '../../db/audit.ts'
import { READS } from '../../runtime/function.ts'
import { integerText } from '../../runtime/input.ts'
import { defineFunction } from '../services.ts'
import { filterOf, GivenFilter } from './filter.ts'

/** The details of an entry. */
const Details = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))

export default defineFunction({
  method: 'GET',
  path: '/api/audit',
  summary: 'The audit log',
  description:
    'Lists who did what, on what and from where, newest first. `next` is the `before` of the following entries, or null after the last. `from` is included and `until` is not.',
  auth: 'admin',
  rateLimit: READS,
  request: {
    query: GivenFilter.extend({
      limit: integerText({ min: 1, max: 500 }).default(100),
      before: integerText({ min: 1 }).optional(),
    }),
  },
  response: z.object({
    entries: z.array(
      z.object({
        id: z.int(),
        at: z.string(),
        action: z.string(),
        username: z.string().nullable(),
        target: z.string().nullable(),
        ip: z.string(),
        details: Details.nullable(),
      }),
    ),
    next: z.int().nullable(),
  }),
  example: {
    query: { action: 'update_start' },
    response: {
      entries: [
        {
          id: 41,
          at: '2026-03-01T12:00:00.000Z',
          action: 'update_start',
          username: 'alice',
          target: 'lxc:101',
          ip: '192.0.2.7',
          details: { job_id: '1772366400-k3x9q2pa' },
        },
      ],
      next: null,
    },
  },

  async handler({ query: { limit, before, ...given } }, { db }) {
    // Reads one entry more than the limit: that entry shows whether another page follows.
    const found = await readAudit(db, { limit: limit + 1, before, ...filterOf(given) })
    const entries = found.slice(0, limit).map((entry) => ({ ...entry, details: detailsOf(entry.details) }))
    return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : null }
  },
})

function detailsOf(text: string | null): z.infer<typeof Details> | null {
  return text === null ? null : Details.parse(JSON.parse(text))
}

import * as z from 'zod'
import { readChecks, upgradesOfAll } from '../../db/checks.ts'
import { READS } from '../../runtime/function.ts'
import { defineFunction } from '../services.ts'
import { checkOf, CheckSummary, EXAMPLE_CHECK, uncheckedHost } from './check.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/updates/checks',
  summary: 'The results of the last checks',
  description:
    'Returns the stored results of the host and then of each container in the last list, without the packages, also while the host is unreachable. A result from before an upgrade, or of a target whose repeated check got no answer, is `unknown`. Lists older than a day are never `up_to_date`.',
  auth: 'user',
  rateLimit: READS,
  response: z.object({ checks: z.array(CheckSummary) }),
  example: {
    response: { checks: [EXAMPLE_CHECK] },
  },

  async handler(_, { db, jobs, clock }) {
    await jobs.upToDate()
    const rows = await readChecks(db)
    const ofAll = await upgradesOfAll(db)
    const now = clock()
    const host = rows.some(({ target }) => target === 'host') ? [] : [await uncheckedHost(db)]
    return { checks: [...host, ...rows].map((row) => checkOf(row, ofAll, now)) }
  },
})

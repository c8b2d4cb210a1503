import * as z from 'zod'
import { readCheck, upgradesOfAll } from '../../db/checks.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { Check, checkOf, EXAMPLE_CHECK, packagesOf, UNCHECKED_HOST } from './check.ts'
import { Target } from './target.ts'

export default defineFunction({
  method: 'GET',
  path: '/api/updates/checks/:target',
  summary: 'What the last check found at a target',
  description: 'With its packages: what is stored, told also while the host is away.',
  auth: 'user',
  rateLimit: READS,
  request: { params: z.object({ target: Target }) },
  response: Check,
  example: {
    response: {
      ...EXAMPLE_CHECK,
      packages: [
        {
          name: 'librig2',
          arch: 'amd64',
          from: '1.4.2-1+b1',
          to: '1:2.0~rc1-1+deb12u3',
          action: 'upgrade',
          origin: 'Debian:12.15/oldstable',
          security: false,
          size: null,
          source: null,
          cves: [],
          status: 'planned',
          reason: null,
        },
      ],
    },
  },
  errors: ['check_missing'],

  async handler({ params: { target } }, { db, jobs, clock, fail }) {
    await jobs.upToDate()
    const row = (await readCheck(db, target)) ?? (target === 'host' ? UNCHECKED_HOST : undefined)
    if (!row) throw fail('check_missing')
    return { ...checkOf(row, await upgradesOfAll(db), clock()), packages: await packagesOf(db, target) }
  },
})

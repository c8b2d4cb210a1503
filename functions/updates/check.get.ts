import * as z from 'zod'
import { readCheck, readCheckedPackages, upgradesOfAll } from '../../db/checks.ts'
import { createLongAnswers } from '../../runtime/at-once.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { JsonStream } from '../../runtime/json-stream.ts'
import { Check, CheckSummary, checkOf, EXAMPLE_CHECK, uncheckedHost } from './check.ts'
import { Target } from './target.ts'

/** More than the packages of a thousand; what a target may tell of is ten times as much, and each answer is held whole. */
const LONG = 512 * 1024
const longAnswer = createLongAnswers()

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
  errors: ['check_missing', 'rate_limited'],

  async handler({ params: { target } }, { db, user, jobs, clock, fail }) {
    await jobs.upToDate()
    const row = (await readCheck(db, target)) ?? (target === 'host' ? await uncheckedHost(db) : undefined)
    if (!row) throw fail('check_missing')
    const summary = CheckSummary.parse(checkOf(row, await upgradesOfAll(db), clock()))
    const packages = (await readCheckedPackages(db, target)) ?? '[]'
    const told = pieces(summary, packages)
    return packages.length <= LONG ? new JsonStream(told) : longAnswer(db, user.id, told)
  },
})

/** The packages as a check has stored them: a target may tell of megabytes, which are not read anew for each who asks. */
async function* pieces(summary: CheckSummary, packages: string): AsyncGenerator<string> {
  yield `${JSON.stringify(summary).slice(0, -1)},"packages":`
  yield packages
  yield '}'
}

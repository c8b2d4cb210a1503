import * as z from 'zod'
import { readCheck, readCheckedPackages, upgradesOfAll } from '../../db/checks.ts'
import { READS } from '../../runtime/function.ts'
import { createLongAnswers, JsonStream } from '../../runtime/json-stream.ts'
import { Target } from '../hypervisor/target.ts'
import { readStanding } from '../restarts/standing.ts'
import { defineFunction } from '../services.ts'
import { Check, CheckSummary, checkOf, EXAMPLE_CHECK, uncheckedHost } from './check.ts'

/**
 * The longest package list, in characters, that does not count towards the limit on concurrent long responses. A
 * thousand packages take less. A target may report ten times as many, and each response is held in memory.
 */
const LONG = 512 * 1024
const longAnswer = createLongAnswers()

export default defineFunction({
  method: 'GET',
  path: '/api/updates/checks/:target',
  summary: 'The result of a target’s last check',
  description: 'Returns the stored result with its packages, also while the host is unreachable.',
  auth: 'user',
  targets: ({ params: { target } }) => [target],
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
    const summary = CheckSummary.parse(checkOf(row, await upgradesOfAll(db), clock(), await readStanding(db)))
    const packages = (await readCheckedPackages(db, target)) ?? '[]'
    const body = pieces(summary, packages)
    return packages.length <= LONG ? new JsonStream(body) : longAnswer(db, user.id, body)
  },
})

/** Yields the packages in their stored JSON, without parsing megabytes for every client. */
async function* pieces(summary: CheckSummary, packages: string): AsyncGenerator<string> {
  yield `${JSON.stringify(summary).slice(0, -1)},"packages":`
  yield packages
  yield '}'
}

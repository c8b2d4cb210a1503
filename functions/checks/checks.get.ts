import * as z from 'zod'
import { checksRevision } from '../../db/check-schedule.ts'
import { readChecks, upgradesOfAll } from '../../db/checks.ts'
import type { Database } from '../../db/libsql/database.ts'
import { readPause } from '../../db/schedules/schedules.ts'
import { mayRead } from '../../runtime/access.ts'
import type { User } from '../../runtime/context.ts'
import { READS } from '../../runtime/function.ts'
import { CachedJson } from '../../runtime/json-stream.ts'
import { PausedBy } from '../../schedules/schedules.ts'
import { readStanding } from '../restarts/standing.ts'
import { defineFunction } from '../services.ts'
import { vulnerabilityState } from '../vulnerabilities/vulnerabilities.ts'
import { CheckSummary, checkOf, EXAMPLE_CHECK, uncheckedHost } from './check.ts'

/** The age of stored lists. */
const Lists = z.object({ at: z.string().nullable(), error: z.string().nullable() })

const Answer = z.object({
  checks: z.array(CheckSummary),
  automatic: z.boolean(),
  vulnerabilities: z.object({ cve: Lists.nullable(), kev: Lists.nullable() }),
  schedules_paused: PausedBy.nullable(),
})

/** The states depend on the time in hours and days, so an answer may be so old. */
const ANSWER_MS = 60_000

/**
 * The last answer of each database, with all that it was made from. Hundreds of checks take several milliseconds to
 * read and to parse, and every open page asks again after each change.
 */
const last = new WeakMap<Database, { key: string; answer: Promise<CachedJson> }>()

export default defineFunction({
  method: 'GET',
  path: '/api/updates/checks',
  summary: 'The results of the last checks',
  description:
    'Returns the stored results of the host and then of each container in the last list, without the packages, also while the host is unreachable. A result from before an upgrade, or of a target whose repeated check got no answer, is `unknown`. Lists older than a day are never `up_to_date`. `automatic` says whether checks start by themselves. `vulnerabilities` has the age of the lists of vulnerabilities and of known exploited ones, null where no source is set. `schedules_paused` tells who has paused all schedules, and when.',
  auth: 'user',
  targets: 'own',
  rateLimit: READS,
  response: Answer,
  example: {
    response: {
      checks: [EXAMPLE_CHECK],
      automatic: true,
      vulnerabilities: { cve: { at: '2026-03-01T12:00:00.000Z', error: null }, kev: null },
      schedules_paused: null,
    },
  },

  async handler(_, { db, user, jobs, settings, config, clock }) {
    await jobs.upToDate()
    // Read before the checks: what changes in between has a later revision.
    const revision = await checksRevision(db)
    const { automatic } = await settings.checks()
    const vulnerabilities = await vulnerabilityState(db, config)
    const now = clock()
    // Few callers are bound to some targets, and each to others.
    if (user.targets !== 'all') return answerAt(db, now, { automatic, vulnerabilities }, user)
    const key = JSON.stringify([revision, Math.floor(now.getTime() / ANSWER_MS), automatic, vulnerabilities])
    const known = last.get(db)
    if (known?.key === key) return known.answer
    const answer = answerAt(db, now, { automatic, vulnerabilities })
    last.set(db, { key, answer })
    // The next request tries again.
    answer.catch(() => {
      if (last.get(db)?.answer === answer) last.delete(db)
    })
    return answer
  },
})

/** Both switches of the schedules raise the revision, so an answer is never older than they are. */
async function answerAt(
  db: Database,
  now: Date,
  rest: Pick<z.infer<typeof Answer>, 'automatic' | 'vulnerabilities'>,
  caller: Pick<User, 'targets'> = { targets: 'all' },
): Promise<CachedJson> {
  const schedules_paused = (await readPause(db)) ?? null
  return new CachedJson(
    Answer.parse({
      checks: (await checksAt(db, now)).filter(({ target }) => mayRead(caller, target)),
      ...rest,
      schedules_paused,
    }),
  )
}

/** Returns the checks of all targets as they stand at `now`, the host first. */
async function checksAt(db: Database, now: Date): Promise<CheckSummary[]> {
  const rows = await readChecks(db)
  const ofAll = await upgradesOfAll(db)
  const standing = await readStanding(db)
  const host = rows.some(({ target }) => target === 'host') ? [] : [await uncheckedHost(db)]
  return [...host, ...rows].map((row) => checkOf(row, ofAll, now, standing))
}

import { beforeAll, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { addJob } from '../../db/job-start.ts'
import { openDatabase } from '../../db/libsql/client.ts'
import type { Database } from '../../db/libsql/database.ts'
import { findUserByName } from '../../db/users.ts'
import { upgradeJob } from '../../functions/runs/upgrade-job.ts'
import { newJobFolder, newJobId } from '../../jobs/events.ts'
import { timestamp } from '../../platform/clock.ts'
import { type Caller, signIn } from './client.ts'
import { jobDetail } from './copies.ts'
import { type Follower, follow } from './follower.ts'
import { makePlan } from './job.ts'
import { replacePostinst, slowPostinst } from './postinst.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { type Account, inside, resetWithSshd, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

/** Five users with ten jobs each: all that may run or wait at once. */
const PEOPLE: Account[] = ['root', 'alice', 'bob', 'ops', 'zoe']
const TARGETS = ['host', 'lxc:101', 'lxc:102', 'host', 'lxc:101', 'lxc:102', 'host', 'lxc:101', 'lxc:102', 'all']
const JOBS = PEOPLE.length * TARGETS.length
const PLACES = ['host', '101', '102'] as const
/** Generous, because the machine may be busy. */
const WITHIN_MS = 400_000

let service: Service
let people: Caller[]
beforeAll(async () => {
  // The limits of Debian's default configuration.
  await resetWithSshd('MaxSessions 10', 'MaxStartups 10:30:100')
  // The first job of each target waits until all jobs are started.
  for (const place of PLACES) {
    await replacePostinst(place, slowPostinst({ lines: 5, seconds: 0.01 }))
    await inside(place, 'touch /etc/rig/hold')
  }
  service = await startService()
  people = await Promise.all(PEOPLE.map((account) => signIn(service, account)))
  return async () => {
    await service.stop()
    await rig('reset')
  }
})

test(
  'fifty jobs of five users succeed one after another, with users served in turn, and further jobs are refused',
  async () => {
    const plans = await Promise.all(people.map((person) => makePlan(person, 'host')))
    const db = await openDatabase(service.database)
    onTestFinished(() => db.close())
    const began = performance.now()
    const jobs = await Promise.all(
      people.flatMap((person, at) =>
        TARGETS.map(async (target) => {
          const { id, isAccepted } = await begin(db, PEOPLE[at] ?? '', person, target)
          const follower = await follow(service, id, { token: person.token, withinMs: WITHIN_MS })
          return { id, target, isAccepted, follower }
        }),
      ),
    )
    const accepted = jobs.filter(({ isAccepted }) => isAccepted)
    expect(accepted.map(({ target }) => target).sort()).toEqual(['all', 'host', 'lxc:101', 'lxc:102'])
    for (const [at, person] of people.entries())
      expect(await person.post('/api/updates/run', { target: 'host', plan: plans[at] })).toMatchObject({
        status: 429,
        body: { code: 'queue_full', error: expect.stringContaining('au plus 3 par utilisateur') },
      })
    const started = performance.now()
    for (const place of PLACES) await inside(place, 'rm /etc/rig/hold')
    const followers = new Map(jobs.map(({ id, follower }) => [id, follower]))

    for (const { id, follower } of jobs) {
      expect(await follower.closed).toBe(1000)
      expect(follower.frames.at(-1)).toMatchObject({ type: 'update_done', data: { job_id: id } })
      expect(follower.output()).not.toMatch(/Channel open failure|lock|Unable to acquire/i)
      expect(follower.output()).toMatch(/^\d+ upgraded, \d+ newly installed, /m)
    }
    const ended = performance.now()
    console.info(`${JOBS} jobs: started in ${seconds(began, started)} s, ended ${seconds(started, ended)} s later`)
    const [anybody] = people
    for (const { id, follower } of jobs)
      expect(anybody && (await jobDetail(anybody, id))).toMatchObject({
        status: 'success',
        exit_code: 0,
        output: follower.output(),
      })

    const stored = await storedJobs(service.folder)
    expect(stored).toHaveLength(JOBS)
    for (const place of PLACES) {
      const spans = stored
        .filter(({ target }) => concerns(target, place))
        .map((job) => ({ ...job, ...span(followers.get(job.id)) }))
        .sort((one, other) => one.first - other.first)
      for (const [at, { id, first }] of spans.entries())
        expect(first, `${id} at ${place}`).toBeGreaterThanOrEqual(spans[at - 1]?.last ?? 0)
      // Every user has had a job before any user’s third job.
      expect(new Set(spans.slice(0, 2 * PEOPLE.length).map(({ started_by }) => started_by)).size).toBe(PEOPLE.length)
    }
    expect(service.log()).not.toContain('Channel open failure')
    await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
    await expect.poll(jobProcesses, { timeout: 10_000 }).toEqual([])
  },
  WITHIN_MS,
)

/**
 * Starts an upgrade without a plan. The service starts one of a target at a time; further ones are recorded as another
 * instance would, within the same bounds, and the service takes them up.
 */
async function begin(db: Database, account: string, person: Caller, target: string) {
  const { status, body } = await person.post('/api/updates/run', { target })
  if (status === 202) return { id: Named.parse(body).job_id, isAccepted: true }
  expect({ status, body }).toMatchObject({ status: 409, body: { code: 'already_queued', job_id: expect.any(String) } })
  const now = new Date()
  const { kind, bounds } = upgradeJob
  const args = { target }
  const job = { id: newJobId(now), folder: newJobFolder(), kind, target, started_at: timestamp(now) }
  const user = await findUserByName(db, account)
  const owned = { ...job, args: JSON.stringify(args), queue: upgradeJob.queue(args), started_by: user?.id ?? 0 }
  const { id } = await addJob(db, owned, { owner: 'nobody', leaseMs: 0 }, [], bounds)
  return { id, isAccepted: false }
}

const Named = z.object({ job_id: z.string() })

function concerns(target: string, place: (typeof PLACES)[number]): boolean {
  return place === 'host' ? target === 'host' : target === 'all' || target === `lxc:${place}`
}

/** Returns when the first output of a job's own command arrived, and when its final event did. */
function span(follower: Follower | undefined): { first: number; last: number } {
  let text = ''
  let first = Number.POSITIVE_INFINITY
  for (const { type, data, at } of follower?.frames ?? []) {
    if (type === 'update_output') text += data.chunk
    if (text.replace(/^(?:En attente .*\n)*(?:En attente .*)?/, '') !== '') first = Math.min(first, at)
  }
  return { first, last: follower?.frames.at(-1)?.at ?? 0 }
}

async function storedJobs(folder: string): Promise<z.infer<typeof Stored>[]> {
  const db = await openDatabase(`file:${folder}/panel.db`)
  try {
    return await db.query(Stored, 'SELECT id, target, started_by FROM jobs')
  } finally {
    await db.close()
  }
}

const Stored = z.object({ id: z.string(), target: z.string(), started_by: z.number() })

function seconds(from: number, to: number): string {
  return ((to - from) / 1000).toFixed(1)
}

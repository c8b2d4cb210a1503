import { beforeAll, expect, test } from 'vitest'
import * as z from 'zod'
import { openDatabase } from '../../db/client.ts'
import { type Caller, signIn } from './client.ts'
import { jobDetail } from './copies.ts'
import { type Follower, follow } from './follower.ts'
import { startJob } from './job.ts'
import { replacePostinst, slowPostinst } from './postinst.ts'
import { jobFolders, jobProcesses } from './remains.ts'
import { inside, resetWithSshd, rig } from './rig.ts'
import { type Service, startService } from './service.ts'

const JOBS = 200
const PLACES = ['host', '101', '102'] as const
/** Generous: this machine may have other work. */
const WITHIN_MS = 400_000

let service: Service
let bob: Caller
beforeAll(async () => {
  // Debian's own limits.
  await resetWithSshd('MaxSessions 10', 'MaxStartups 10:30:100')
  // The first of each target lasts until all have been started.
  for (const place of PLACES) {
    await replacePostinst(place, slowPostinst({ lines: 5, seconds: 0.01 }))
    await inside(place, 'touch /etc/rig/hold')
  }
  service = await startService()
  bob = await signIn(service, 'bob')
  return async () => {
    await service.stop()
    await rig('reset')
  }
})

test(
  'two hundred jobs over all targets, started at once, all succeed, one after another in order of arrival',
  async () => {
    const began = performance.now()
    const jobs = await Promise.all(
      Array.from({ length: JOBS }, async (_, at) => {
        const id = await startJob(bob, targetOf(at))
        return { id, follower: await follow(service, id, { token: bob.token, withinMs: WITHIN_MS }) }
      }),
    )
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
    for (const { id, follower } of jobs)
      expect(await jobDetail(bob, id)).toMatchObject({ status: 'success', exit_code: 0, output: follower.output() })

    const arrived = await inOrderOfArrival(service.folder)
    expect(arrived).toHaveLength(JOBS)
    for (const place of PLACES) {
      const ofPlace = arrived.filter(({ target }) => concerns(target, place))
      expect(ofPlace.length).toBeGreaterThan(50)
      const spans = ofPlace.map(({ id }) => span(followers.get(id)))
      for (const [at, { first }] of spans.entries())
        expect(first, `${ofPlace[at]?.id} at ${place}`).toBeGreaterThanOrEqual(spans[at - 1]?.last ?? 0)
    }
    expect(service.log()).not.toContain('Channel open failure')
    await expect.poll(jobFolders, { timeout: 10_000 }).toBe('')
    await expect.poll(jobProcesses, { timeout: 10_000 }).toEqual([])
  },
  WITHIN_MS,
)

function targetOf(at: number): string {
  if (at % 20 === 10) return 'all'
  return ['host', 'lxc:101', 'lxc:102'][at % 3] ?? ''
}

function concerns(target: string, place: (typeof PLACES)[number]): boolean {
  return place === 'host' ? target === 'host' : target === 'all' || target === `lxc:${place}`
}

/** When the first word of a job's own command arrived, and when its end. */
function span(follower: Follower | undefined): { first: number; last: number } {
  let text = ''
  let first = Number.POSITIVE_INFINITY
  for (const { type, data, at } of follower?.frames ?? []) {
    if (type === 'update_output') text += data.chunk
    if (text.replace(/^En attente .*\n/, '') !== '') first = Math.min(first, at)
  }
  return { first, last: follower?.frames.at(-1)?.at ?? 0 }
}

async function inOrderOfArrival(folder: string): Promise<{ id: string; target: string }[]> {
  const db = await openDatabase(`file:${folder}/panel.db`)
  try {
    return await db.query(
      z.object({ id: z.string(), target: z.string() }),
      'SELECT id, target FROM jobs ORDER BY rowid',
    )
  } finally {
    await db.close()
  }
}

function seconds(from: number, to: number): string {
  return ((to - from) / 1000).toFixed(1)
}

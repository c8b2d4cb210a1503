import { expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import { findJob, type JobRow } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { readOutput } from '../../db/output.ts'
import { saveUser } from '../../db/users.ts'
import type { DemoHost } from '../../demo/host.ts'
import type { Machine } from '../../demo/process.ts'
import { rebootJob } from '../../functions/restarts/reboot-job.ts'
import { upgradeJob } from '../../functions/runs/upgrade-job.ts'
import { createJobs, type Jobs } from '../../jobs/manager.ts'
import { CANCEL, CLEAN, FOLLOW, START } from '../../jobs/script.ts'
import type { Config } from '../../platform/config.ts'
import { createHub, type Frame, type Hub } from '../../platform/hub.ts'
import { createHost } from '../../ssh/host.ts'
import { NOW } from '../db/database.ts'
import { hostOf } from '../runtime/demo.ts'

interface InstanceOptions {
  /** The ids of instances whose processes have ended. */
  gone?: readonly string[]
  wrap?(db: Database): Database
  /** The clock for the time limits of retries, in milliseconds. */
  elapsed?(): number
}

/** The jobs of one instance with the demo host. `again` makes another instance, after a restart or beside the first. */
export async function jobService(
  demo: DemoHost,
  { ssh, ...first }: { ssh?: Partial<Config['ssh']> } & InstanceOptions = {},
) {
  const { settings, db, log, lines } = await hostOf(demo, ssh)
  const bob = await saveUser(db, 'bob', false, NOW)
  let instances = 0
  const begin = ({ gone = [], wrap = (same) => same, elapsed }: InstanceOptions = {}) => {
    instances += 1
    const host = createHost({ settings, log })
    const hub = createHub()
    const instance = {
      id: `instance ${instances}`,
      isGone: async (id: string) => gone.includes(id),
      runs: async () => true,
    }
    const jobs = createJobs({
      db: wrap(db),
      host,
      hub,
      clock: () => new Date(NOW),
      log,
      instance,
      kinds: [rebootJob, upgradeJob],
      settings,
      mostOutput: 64 * 1024 * 1024,
      ...(elapsed && { elapsed }),
    })
    onTestFinished(async () => {
      const stopped = jobs.stop()
      host.close()
      await stopped
    })
    return { hub, jobs }
  }
  return {
    ...begin(first),
    again: begin,
    db,
    settings,
    lines,
    /** Starts an upgrade, by bob unless another user is given. */
    async start(jobs: Jobs, target: string, by?: string) {
      const { id: startedBy } = by === undefined ? bob : await saveUser(db, by, false, NOW)
      return jobs.start({ kind: 'upgrade', args: { target }, target, startedBy })
    },
    row: (id: string) => rowOf(db, id),
    async ended(id: string): Promise<JobRow> {
      const status = async () => (await rowOf(db, id)).status
      await expect.poll(status, { timeout: 8_000, interval: 10 }).not.toBe('running')
      return rowOf(db, id)
    },
    output: (id: string) => outputOf(db, id),
    /** Lets all leases expire, as after ten seconds without a renewal. */
    expireLeases: () => db.run('UPDATE jobs SET lease_until = 0'),
  }
}

async function rowOf(db: Database, id: string): Promise<JobRow> {
  const row = await findJob(db, id)
  if (!row) throw new Error('no such job')
  return row
}

/** The stored output of a job, whose rows must have no gap between them. */
export async function outputOf(db: Database, id: string): Promise<string> {
  const chunks = await readOutput(db, id, 0, 1e12)
  let at = 0
  for (const { offset, bytes } of chunks) {
    expect(offset).toBe(at)
    at += bytes.length
  }
  return Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
}

const PublishedEvent = z.object({
  type: z.string(),
  topic: z.string(),
  seq: z.number(),
  data: z.record(z.string(), z.unknown()),
})

/** Records the events that subscribers of a job get. */
export function listen(hub: Hub, id: string) {
  const events: z.infer<typeof PublishedEvent>[] = []
  let silent = false
  const read = ({ bytes }: Frame) => PublishedEvent.parse(JSON.parse(bytes.toString()))
  hub.subscribe(`update:${id}`, {
    deliver: (frame) => events.push(read(frame)),
    finish(frame) {
      if (frame) events.push(read(frame))
      else silent = true
    },
  })
  return {
    events,
    silent: () => silent,
    /** The published output, which must begin at byte `from`, without gaps between the pieces. */
    text(from = 0) {
      let text = ''
      for (const { type, seq, data } of events) {
        if (type !== 'update_output') continue
        text += data.chunk
        expect(seq).toBe(from + Buffer.byteLength(text))
      }
      return text
    },
  }
}

const SCRIPTS = { start: START, follow: FOLLOW, cancel: CANCEL, clean: CLEAN }

/**
 * Calls back before one of the jobs' scripts runs on the host, with the number of earlier runs, and counts the runs.
 */
export function beforeScript(
  demo: DemoHost,
  name: keyof typeof SCRIPTS,
  call: (times: number, machine: Machine) => Promise<number> | undefined = () => undefined,
) {
  let times = 0
  const others = demo.override
  demo.override = (words, process) => {
    if (words[0] !== 'sh' || words[2] !== SCRIPTS[name]) return others?.(words, process)
    times += 1
    return call(times - 1, process.machine)
  }
  return () => times
}

/** The command lines that started jobs on the host. */
export const starts = (demo: DemoHost) =>
  demo.commands.filter((words) => words[3] === 'ops-panel-job' && words[4]?.includes('process.new'))

/** A clock that the test advances. */
export function movedClock() {
  let now = 0
  return {
    elapsed: () => now,
    pass(ms: number) {
      now += ms
    },
  }
}

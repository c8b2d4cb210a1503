import { setTimeout as pause } from 'node:timers/promises'
import { lapsedJobs, ownedJobs, releaseLeases, renewLeases, takeJob } from '../db/job-leases.ts'
import type { NewestOfKind } from '../db/job-list.ts'
import { addJob, endJob, findJob, type JobRow, QueueFull, requestCancel } from '../db/jobs.ts'
import type { Database, Statement } from '../db/libsql/database.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Instance } from '../platform/program.ts'
import type { Hub } from '../runtime/hub.ts'
import type { Host } from '../ssh/ssh.ts'
import { jobFailure } from './codes.ts'
import { finalEvent, jobTopic, newJobFolder, newJobId, outputEvent } from './events.ts'
import { createFailedStarts } from './failed-starts.ts'
import type { AnyJobKind } from './kind.ts'
import { createJobList, type NewestJobs } from './list.ts'
import { createOutputWriter } from './output.ts'
import { createJobQueue } from './queue.ts'
import { createJobRelay } from './relay.ts'
import { type JobRun, runJob } from './run.ts'

export interface NewJobRequest {
  kind: string
  args: unknown
  target: string
  startedBy: number
  /** The audit entry of its start, written with its record or not at all. */
  announce?(id: string): Statement
}

export interface Jobs {
  /** What can be started. */
  kinds: readonly string[]
  /**
   * Records a job and starts it in the background; returns its id, or throws `queue_full`. Where the process stands still between requests, not before
   * the host has begun it, or it waits for another one.
   */
  start(job: NewJobRequest): Promise<string>
  /** Ends a running job, whichever instance sees to it, with the audit entry of it; false, and neither, when it is not running. */
  cancel(id: string, username: string, announce?: Statement): Promise<boolean>
  /** The newest jobs of some kinds with all that run, as lists show them: cheap, however many ask. */
  newest(kinds: readonly NewestOfKind[]): Promise<NewestJobs>
  /** Publishes what a running job prints from that byte on to its topic, whichever instance follows it. */
  tell(event: string, id: string, from: number): void
  /**
   * To be called every few seconds: keeps the jobs that are seen to here, lets go of those that another instance has
   * taken, and takes those that nobody sees to.
   */
  maintain(): Promise<void>
  /**
   * Where the process stands still between requests: takes up what nobody sees to, and settles when what the host has put out
   * of that job, or of every one that is seen to here, is stored. A process that runs on does so by itself.
   */
  upToDate(id?: string): Promise<void>
  /** Lets go of the running jobs, which run on at the host, and stores what has arrived. */
  stop(): Promise<void>
}

/** A job whose instance has not said for so long that it lives is taken by another one. */
const LEASE_MS = 10_000
/** How often it says so. */
const RENEW_MS = 2_000
/** A job of a kind that is not known here is left to an instance that may know it, which takes it within seconds. */
const UNKNOWN_MS = 30_000
/** What stands between a client and a function host gives up after 29 s at the soonest; the next request goes on with it. */
const BEGIN_MS = 20_000

/** Jobs last minutes: whoever comes again sooner meets the same. */
const FULL_SECONDS = 30

export function createJobs({
  db,
  host,
  hub,
  clock,
  log,
  instance,
  kinds,
  mostOutput,
  elapsed = () => performance.now(),
  onDemand = false,
}: {
  db: Database
  host: Host
  hub: Hub
  clock: Clock
  log: Log
  instance: Instance
  kinds: readonly AnyJobKind[]
  /** So many bytes of what a job prints are kept, half of them from its beginning and half from its end. */
  mostOutput: number
  /** What the patience with a host that does not answer is measured with, in milliseconds. */
  elapsed?: () => number
  /** The process may stand still whenever no request is under way. */
  onDemand?: boolean
}): Jobs {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]))
  const runs = new Map<string, JobRun>()
  /** How far the jobs that are seen to here are told. */
  const told = new Map<string, { topic: string; event: string; at: number }>()
  const lease = { owner: instance.id, leaseMs: LEASE_MS }
  const refused = createFailedStarts({ db, clock, elapsed })
  /** Jobs of kinds that are not known here, and since when nobody sees to them. */
  const unknown = new Map<string, number>()
  let stopped = false

  const writer = createOutputWriter(db, (id, text) => {
    const job = told.get(id)
    if (!job) return false
    job.at = text.offset + text.bytes.length
    const heard = hub.subscribers(job.topic) > 0
    if (heard) hub.publish(job.topic, outputEvent(job.event, text))
    return heard
  })
  const queue = createJobQueue(db, log)
  const list = createJobList(db, elapsed)
  const tail = createJobRelay({ db, hub, log }, (id) => runs.has(id))

  const kindOf = (name: string): AnyJobKind => {
    const kind = byName.get(name)
    if (!kind) throw new Error(`no job of kind ${name}`)
    return kind
  }

  const ended = (job: JobRow) => {
    const { event } = kindOf(job.kind)
    list.changed()
    hub.finish(jobTopic(event, job.id), finalEvent(event, job))
    queue.review()
  }

  const run = (row: JobRow): void => {
    const { id } = row
    const kind = kindOf(row.kind)
    const { event } = kind
    const here = { topic: jobTopic(event, id), event, at: row.output_size }
    told.set(id, here)
    const started = runJob({ db, host, clock, elapsed, log, writer, queue, mostOutput, ended }, kind, row)
    runs.set(id, started)
    started.done
      .catch((error: unknown) => log.error({ job: id, err: error }, 'the end of a job could not be recorded'))
      .finally(() => {
        runs.delete(id)
        told.delete(id)
        // Who listens here goes on listening to the one that has taken it.
        if (!stopped && hub.subscribers(here.topic) > 0) tail.begin(event, id, here.at)
      })
  }

  /** Ends a job of which no instance knows how to go on: else it would keep all others of its queue waiting for good. */
  const endUnknown = async ({ id, kind, cancelled_by }: JobRow, gone: string | undefined): Promise<void> => {
    const since = unknown.get(id) ?? elapsed()
    unknown.set(id, since)
    if (elapsed() - since < UNKNOWN_MS) return
    unknown.delete(id)
    const epoch = await takeJob(db, id, { ...lease, gone })
    if (epoch === undefined) return
    const { message, code } = jobFailure('job_kind_missing', { values: { kind } })
    const end = { status: 'error', error: message, error_code: code, exit_code: null } as const
    const at = { now: timestamp(clock()), cancelledBy: cancelled_by }
    if (await endJob(db, { id, epoch }, end, at)) log.warn({ job: id, kind, code }, 'job failed')
    list.changed()
    queue.review()
  }

  const take = async (id: string, gone?: string): Promise<void> => {
    if (stopped || runs.has(id) || refused.has(id)) return
    const found = await findJob(db, id)
    if (found && !byName.has(found.kind)) return endUnknown(found, gone)
    const epoch = await takeJob(db, id, { ...lease, gone })
    const row = epoch === undefined ? undefined : await findJob(db, id)
    if (!row || stopped || row.epoch !== epoch || runs.has(id)) return
    log.info({ job: id, epoch }, 'job taken up again')
    // One that may never have been launched is launched: the host does so only once.
    run(row)
  }

  let keptAt = Number.NEGATIVE_INFINITY
  const keep = async (): Promise<void> => {
    keptAt = elapsed()
    const ids = [...runs.keys()]
    if (ids.length === 0) return
    const held = new Map((await renewLeases(db, ids, lease)).map((job) => [job.id, job]))
    for (const id of ids) {
      const job = held.get(id)
      if (!job) runs.get(id)?.release()
      else if (job.cancelled_by !== null) runs.get(id)?.cancel()
    }
  }

  const maintain = async (): Promise<void> => {
    await keep()
    await refused.withdraw()
    const orphans: { id: string; gone?: string }[] = (await lapsedJobs(db)).map((id) => ({ id }))
    for (const { id, owner } of await ownedJobs(db)) {
      if (owner !== instance.id && (await instance.isGone(owner))) orphans.push({ id, gone: owner })
    }
    for (const { id, gone } of orphans) {
      // Taking many from a slow database must not cost those that are seen to already.
      if (elapsed() - keptAt > RENEW_MS) await keep()
      await take(id, gone)
    }
    for (const id of unknown.keys()) if (!orphans.some((orphan) => orphan.id === id)) unknown.delete(id)
  }

  return {
    kinds: [...byName.keys()],
    async start({ kind: name, args, target, startedBy, announce }) {
      const kind = kindOf(name)
      const now = clock()
      const row = {
        id: newJobId(now),
        folder: newJobFolder(),
        kind: name,
        args: JSON.stringify(args),
        queue: kind.queue(args),
        target,
      }
      const started_at = timestamp(now)
      const more = announce ? [announce(row.id)] : []
      try {
        const job = await addJob(db, { ...row, started_at, started_by: startedBy }, lease, more, kind.bounds)
        list.changed()
        const found = await findJob(db, row.id)
        // A database that took longer than the lease: somebody has taken it.
        if (found?.epoch === job.epoch && !stopped) run(found)
      } catch (error) {
        if (error instanceof QueueFull)
          throw jobFailure('queue_full', { cause: error, retryAfter: FULL_SECONDS, values: { ...kind.bounds } })
        refused.add(row.id)
        throw error
      }
      const begun = runs.get(row.id)?.begun
      if (onDemand && begun) await Promise.race([begun, pause(BEGIN_MS, undefined, { ref: false })])
      return row.id
    },
    async cancel(id, username, announce) {
      if (!(await requestCancel(db, id, username, announce))) return false
      runs.get(id)?.cancel()
      return true
    },
    newest: (kinds) => list.newest(kinds),
    tell: (event, id, from) => tail.begin(event, id, from),
    maintain,
    async upToDate(id) {
      if (!onDemand) return
      if (elapsed() - keptAt > RENEW_MS) await maintain()
      queue.review()
      const asked = [...runs].filter(([own]) => id === undefined || own === id)
      await Promise.all(asked.map(([, job]) => job.caughtUp()))
    },
    async stop() {
      stopped = true
      tail.stop()
      for (const job of runs.values()) job.release()
      await Promise.allSettled(Array.from(runs.values(), ({ done }) => done))
      const released = refused.withdraw().then(() => releaseLeases(db, instance.id))
      await released.catch((error: unknown) =>
        log.warn({ err: error }, 'running jobs could not be given up; others take them in a moment'),
      )
    },
  }
}

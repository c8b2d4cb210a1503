/*
 * Starts jobs, and keeps exactly one follower for each running job by leases in the database. Without the leases, a job
 * whose instance dies would stay `running` for ever, and two instances could store the same output twice.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { jobsWithExpiredLease, ownedJobs, releaseLeases, renewLeases, takeJob } from '../db/job-leases.ts'
import { followedJobs, type NewestOfKind } from '../db/job-list.ts'
import { addJob, addRun, type NewJob, type NewRun, QueueFull, StartRefused } from '../db/job-start.ts'
import { endJob, findJob, type Followed, type JobRow, requestCancel } from '../db/jobs.ts'
import type { Database, Statement } from '../db/libsql/database.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Instance } from '../platform/program.ts'
import type { Hub } from '../platform/hub.ts'
import type { Host } from '../ssh/ssh.ts'
import { jobFailure, queueFull } from './codes.ts'
import { finalEvent, jobTopic, newJobFolder, newJobId, outputEvent, phaseEvent } from './events.ts'
import { createFailedStarts } from './failed-starts.ts'
import type { AnyJobKind } from './kind.ts'
import { createJobList, type NewestJobs } from './list.ts'
import { createOutputWriter } from './output.ts'
import { createJobQueue } from './queue.ts'
import { createJobRelay } from './relay.ts'
import { type JobRun, runJob } from './run.ts'

/** A job to start. `alone`, `onlyBeside` and `late`: see `NewJob`. */
export interface NewJobRequest extends Pick<NewJob, 'alone' | 'onlyBeside' | 'late'> {
  kind: string
  args: unknown
  target: string
  startedBy: number
  /** The id of the plan that the job carries out. Its start uses the plan up, in one transaction. */
  plan?: string
  /** Makes the audit entry of the start, which is stored in one transaction with the job. */
  announce?(id: string): Statement
}

export interface Jobs {
  /** The names of the kinds that can be started. */
  kinds: readonly string[]
  /**
   * Records a job, starts it in the background and returns its id; throws `queue_full` and a StartRefused. On demand
   * (`onDemand`), returns only when the host has started the job or the job waits for another one.
   */
  start(job: NewJobRequest): Promise<string>
  /** Starts all jobs of a run like `start`, of one kind and for one user, or none. Returns their ids in the same order. */
  startRun(run: string, jobs: readonly NewJobRequest[], within?: NewRun['within']): Promise<string[]>
  /**
   * Cancels a running job, whichever instance follows it, and stores the audit entry. False when the job is not
   * running.
   */
  cancel(id: string, username: string, announce?: Statement): Promise<boolean>
  /** The newest jobs of some kinds and all running ones. Concurrent callers share one query. */
  newest(kinds: readonly NewestOfKind[]): Promise<NewestJobs>
  /** Publishes the output of a running job from byte `from` on at this instance, whichever instance follows the job. */
  relay(event: string, id: string, from: number): void
  /**
   * Renews the leases of the jobs that this instance follows, releases those that another instance has taken over, and
   * takes over those without a follower. To be called every few seconds.
   */
  maintain(): Promise<void>
  /**
   * Takes over jobs without a follower, and settles when the output that the host has of job `id`, or of all jobs of
   * this instance, is stored. Does nothing unless `onDemand`: a process that always runs is up to date by itself.
   */
  upToDate(id?: string): Promise<void>
  /** Stores the output that has arrived and releases the running jobs, which continue on the host. */
  stop(): Promise<void>
}

/** Another instance takes a job over when its lease was not renewed for this long. */
const LEASE_MS = 10_000
const RENEW_MS = 2_000
/** How long a job of an unknown kind is left to an instance that knows the kind, which takes it over within seconds. */
const UNKNOWN_MS = 30_000
/** Proxies in front of a function host give up after 29 s or later. The next request continues the start. */
const START_MS = 20_000

export function createJobs<settings>({
  db,
  host,
  hub,
  clock,
  log,
  instance,
  kinds,
  settings,
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
  kinds: readonly AnyJobKind<settings>[]
  settings: settings
  /** Bytes of a job's output to keep, half of them from its beginning and half from its end. */
  mostOutput: number
  /** A monotonic clock in milliseconds. */
  elapsed?: () => number
  /** The process may be frozen while it handles no request, as on a function host. */
  onDemand?: boolean
}): Jobs {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]))
  const runs = new Map<string, JobRun>()
  /** The end of the published output of each job that this instance follows. */
  const published = new Map<string, { topic: string; event: string; at: number }>()
  const lease = { owner: instance.id, leaseMs: LEASE_MS }
  const failedStarts = createFailedStarts({ db, clock, elapsed })
  /** Jobs of unknown kinds, and the time since which they have no follower. */
  const unknown = new Map<string, number>()
  let stopped = false

  const writer = createOutputWriter(db, (id, text) => {
    const job = published.get(id)
    if (!job) return false
    job.at = text.offset + text.bytes.length
    const hasSubscribers = hub.subscribers(job.topic) > 0
    if (hasSubscribers) hub.publish(job.topic, outputEvent(job.event, text))
    return hasSubscribers
  })
  const queue = createJobQueue(db, log, clock)
  const list = createJobList(db, elapsed)
  const relay = createJobRelay({ db, hub, log }, (id) => runs.has(id))

  const kindOf = (name: string): AnyJobKind<settings> => {
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

  const phased = (id: string, phase: string) => {
    const job = published.get(id)
    list.changed()
    if (job) hub.publish(job.topic, phaseEvent(job.event, job.at, phase))
  }

  const services = { db, host, clock, elapsed, log, writer, queue, mostOutput, settings, ended, phased }
  const run = (row: JobRow): void => {
    const [{ id, output_size: at }, kind] = [row, kindOf(row.kind)]
    const { event } = kind
    const here = { topic: jobTopic(event, id), event, at }
    published.set(id, here)
    const started = runJob(services, kind, row)
    runs.set(id, started)
    started.done
      .catch((error: unknown) => log.error({ job: id, err: error }, 'the end of a job could not be recorded'))
      .finally(() => {
        runs.delete(id)
        published.delete(id)
        // After a takeover, the subscribers of this instance get the output of the new follower.
        if (!stopped && hub.subscribers(here.topic) > 0) relay.start(event, id, here.at)
      })
  }

  /** Ends a job whose kind no instance knows, because it would block its queue for ever. */
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

  const takeOver = async (id: string, gone?: string): Promise<void> => {
    if (stopped || runs.has(id) || failedStarts.has(id)) return
    const found = await findJob(db, id)
    if (found && !byName.has(found.kind)) return endUnknown(found, gone)
    const epoch = await takeJob(db, id, { ...lease, gone })
    const row = epoch === undefined ? undefined : await findJob(db, id)
    if (!row || stopped || row.epoch !== epoch || runs.has(id)) return
    log.info({ job: id, epoch }, 'job taken up again')
    // A job that is not marked as launched is launched again: a start on the host is idempotent.
    run(row)
  }

  let renewedAt = Number.NEGATIVE_INFINITY
  const renew = async (): Promise<void> => {
    renewedAt = elapsed()
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
    await renew()
    await failedStarts.withdraw()
    const orphans: { id: string; gone?: string }[] = (await jobsWithExpiredLease(db)).map((id) => ({ id }))
    for (const { id, owner } of await ownedJobs(db)) {
      if (owner !== instance.id && (await instance.isGone(owner))) orphans.push({ id, gone: owner })
    }
    for (const { id, gone } of orphans) {
      // Many takeovers with a slow database must not let the leases of this instance expire.
      if (elapsed() - renewedAt > RENEW_MS) await renew()
      await takeOver(id, gone)
    }
    for (const id of unknown.keys()) if (!orphans.some((orphan) => orphan.id === id)) unknown.delete(id)
  }

  const newJob = (name: string, { args, target, startedBy, plan, announce, ...more }: NewJobRequest) => {
    const now = clock()
    const job: NewJob = {
      ...more,
      id: newJobId(now),
      folder: newJobFolder(),
      kind: name,
      args: JSON.stringify(args),
      queue: kindOf(name).queue(args),
      target,
      started_at: timestamp(now),
      started_by: startedBy,
      plan_id: plan,
    }
    return { job, more: announce ? [announce(job.id)] : [] }
  }

  /** Records jobs by `add` and follows them. */
  const startRows = async (name: string, ids: readonly string[], add: () => Promise<Followed[]>): Promise<void> => {
    try {
      const added = await add()
      list.changed()
      // All rows are read before the first job starts: a start that fails must not leave a part of a run at work. With
      // a slow database the lease may have expired, and another instance may have taken a job over.
      for (const found of await followedJobs(db, added)) if (!stopped) run(found)
    } catch (error) {
      if (error instanceof StartRefused) throw error
      if (error instanceof QueueFull) throw queueFull(error, kindOf(name).bounds)
      // A job that has a follower runs: its withdrawal could come after its start on the host.
      for (const id of ids) if (!runs.has(id)) failedStarts.add(id)
      throw error
    }
    const startedOrWaiting = ids.flatMap((id) => runs.get(id)?.startedOrWaiting ?? [])
    if (onDemand) await Promise.race([Promise.all(startedOrWaiting), pause(START_MS, undefined, { ref: false })])
  }

  return {
    kinds: [...byName.keys()],
    async start(request) {
      const { job, more } = newJob(request.kind, request)
      const { bounds } = kindOf(request.kind)
      await startRows(request.kind, [job.id], async () => [await addJob(db, job, lease, more, bounds)])
      return job.id
    },
    async startRun(id, requests, within) {
      const kind = requests[0]?.kind ?? ''
      const jobs = requests.map((request) => newJob(kind, request))
      const ids = jobs.map(({ job }) => job.id)
      await startRows(kind, ids, () => addRun(db, { id, jobs, within }, lease, kindOf(kind).bounds))
      return ids
    },
    async cancel(id, username, announce) {
      if (!(await requestCancel(db, id, username, announce))) return false
      runs.get(id)?.cancel()
      return true
    },
    newest: (kinds) => list.newest(kinds),
    relay: (event, id, from) => relay.start(event, id, from),
    maintain,
    async upToDate(id) {
      if (!onDemand) return
      if (elapsed() - renewedAt > RENEW_MS) await maintain()
      queue.review()
      const chosen = [...runs].filter(([own]) => id === undefined || own === id)
      await Promise.all(chosen.map(([, job]) => job.caughtUp()))
    },
    async stop() {
      stopped = true
      relay.stop()
      for (const job of runs.values()) job.release()
      await Promise.allSettled(Array.from(runs.values(), ({ done }) => done))
      const kept = 'running jobs could not be given up; others take them in a moment'
      const withdrawn = failedStarts.withdraw().then(() => releaseLeases(db, instance.id))
      await withdrawn.catch((error: unknown) => log.warn({ err: error }, kept))
    },
  }
}

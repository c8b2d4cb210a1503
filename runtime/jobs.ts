import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Database, StorageError } from '../db/client.ts'
import { addJob, endJob, findJob, type JobEnd, type JobRow, markLaunched, runningJobs } from '../db/jobs.ts'
import { type Clock, timestamp } from './clock.ts'
import { script } from './command.ts'
import { Failure } from './errors.ts'
import type { Host } from './host.ts'
import type { Hub } from './hub.ts'
import { finalEvent, jobTopic } from './job-events.ts'
import { followOutput, type JobOutcome } from './job-follow.ts'
import type { AnyJobKind } from './job-kind.ts'
import { createOutputWriter } from './job-output.ts'
import { CLEAN, RUN, START } from './job-script.ts'
import type { Log } from './log.ts'
import { SshError } from './ssh-connection.ts'
import { translate } from './translate.ts'

export interface NewJobRequest {
  kind: string
  args: unknown
  target: string
  startedBy: number
  announce?(id: string): Promise<void>
}

export interface Jobs {
  /** Records a job and starts it in the background; returns its id. What `announce` throws prevents the start. */
  start(job: NewJobRequest): Promise<string>
  /** Follows on what was running when the service last ended. */
  adopt(): Promise<void>
  /** Lets go of the running jobs, which run on at the host, and stores what has arrived. */
  stop(): Promise<void>
}

/** Storage failures in the middle of a job are waited out for about two minutes; the host keeps the output. */
const STORAGE_PAUSES_MS = [250, 1_000, 5_000, 15_000, 30_000, 60_000]
/** Starting takes a few process starts; the runner has said who it is within 5 s, or never will. */
const START_MS = 30_000

export function createJobs({
  db,
  host,
  hub,
  clock,
  log,
  kinds,
}: {
  db: Database
  host: Host
  hub: Hub
  clock: Clock
  log: Log
  kinds: readonly AnyJobKind[]
}): Jobs {
  const byName = new Map(kinds.map((kind) => [kind.kind, kind]))
  const following = new Map<string, Promise<void>>()
  const stopping = new AbortController()
  const topics = new Map<string, string>()

  const writer = createOutputWriter(db, (jobId, { offset, bytes }) => {
    const topic = topics.get(jobId) ?? ''
    if (hub.subscribers(topic) === 0) return
    const type = `${topic.slice(0, topic.indexOf(':'))}_output`
    hub.publish(topic, { type, seq: offset + bytes.length, data: { chunk: bytes.toString() } })
  })

  const kindOf = (name: string): AnyJobKind => {
    const kind = byName.get(name)
    if (!kind) throw new Error(`no job of kind ${name}`)
    return kind
  }

  const launch = async ({ id, kind, args }: Pick<JobRow, 'id' | 'kind' | 'args'>): Promise<void> => {
    const command = await kindOf(kind).prepare(JSON.parse(args), host)
    const { code, stderr } = await host.exec(script(START, 'ops-panel-job', RUN, id, ...command), {
      rights: 'script',
      timeoutMs: START_MS,
    })
    if (code !== 0) throw new SshError('lost', lastLine(stderr) || `la tâche n’a pas démarré (code ${code})`)
    await patiently(id, () => markLaunched(db, id))
  }

  /** Follows a started job to its end; after a storage failure again, from what is stored. */
  const follow = (id: string): Promise<JobOutcome> => {
    return patiently(id, async () => {
      const row = await findJob(db, id)
      if (!row) throw new Error(`job ${id} is not recorded`)
      return followOutput({ host, output: writer.open(id), signal: stopping.signal }, row)
    })
  }

  /** Does it again while the database fails, for some two minutes. */
  const patiently = async <result>(id: string, work: () => Promise<result>): Promise<result> => {
    for (const wait of STORAGE_PAUSES_MS) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof StorageError)) throw error
        log.error({ job: id, err: error }, 'the database failed; once more in a moment')
        await pause(wait, undefined, { signal: stopping.signal })
      }
    }
    return work()
  }

  const end = async (id: string, event: string, result: JobEnd): Promise<void> => {
    const row = await patiently(id, async () => {
      await endJob(db, id, result, timestamp(clock()))
      return findJob(db, id)
    })
    log.info({ job: id, status: result.status, exit_code: result.exit_code, error: result.error }, 'job ended')
    if (row) hub.finish(jobTopic(event, id), finalEvent(event, row))
  }

  /** Runs a job to its end and says how it ended; how that is recorded is another matter. */
  const outcome = async (row: Pick<JobRow, 'id' | 'kind' | 'args'>, started: boolean): Promise<JobEnd> => {
    try {
      if (!started) await launch(row)
      const { code } = await follow(row.id)
      return { status: 'success', error: null, error_code: null, exit_code: code }
    } catch (error) {
      const failure = ended(error)
      if (!stopping.signal.aborted) log.warn({ job: row.id, err: error }, 'job failed')
      return { status: 'error', error: failure.message, error_code: failure.code, exit_code: null }
    }
  }

  const run = async (row: Pick<JobRow, 'id' | 'kind' | 'args'>, started: boolean): Promise<void> => {
    const { id } = row
    const { event } = kindOf(row.kind)
    topics.set(id, jobTopic(event, id))
    try {
      const result = await outcome(row, started)
      if (stopping.signal.aborted) return
      await end(id, event, result)
      if (result.status === 'success') await clean(id)
    } finally {
      topics.delete(id)
    }
  }

  /** The folder on the host is of no more use; one that cannot be removed now does no harm. */
  const clean = async (id: string): Promise<void> => {
    try {
      await host.exec(script(CLEAN, 'ops-panel-job', id), { rights: 'script' })
    } catch (error) {
      log.warn({ job: id, err: error }, 'job folder not removed')
    }
  }

  const inBackground = (row: Pick<JobRow, 'id' | 'kind' | 'args'>, started: boolean): void => {
    const running = run(row, started)
      .catch((error: unknown) => log.error({ job: row.id, err: error }, 'the end of a job could not be recorded'))
      .finally(() => following.delete(row.id))
    following.set(row.id, running)
  }

  return {
    async start({ kind, args, target, startedBy, announce }) {
      kindOf(kind)
      const now = clock()
      const row = { id: newJobId(now), kind, args: JSON.stringify(args), target }
      await addJob(db, { ...row, started_at: timestamp(now), started_by: startedBy })
      try {
        await announce?.(row.id)
      } catch (error) {
        const { message, code } = translate(error)
        await endJob(db, row.id, { status: 'error', error: message, error_code: code, exit_code: null }, timestamp(now))
        throw error
      }
      inBackground(row, false)
      return row.id
    },
    async adopt() {
      for (const row of await runningJobs(db)) {
        log.info({ job: row.id }, 'job taken up again')
        // One that may never have been launched is launched: the host does so only once.
        inBackground(row, row.launched)
      }
    },
    async stop() {
      stopping.abort()
      await Promise.allSettled(following.values())
    },
  }
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `<unix seconds>-<8 of a-z, 0-9>` */
function newJobId(now: Date): string {
  const random = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return `${Math.floor(now.getTime() / 1000)}-${random}`
}

/** Settings that went missing meanwhile are named as such; all else that stops a job is told as an SSH failure. */
function ended(error: unknown): Failure {
  const failure = translate(error)
  if (failure.code !== 'internal' && failure.code !== 'storage_failed') return failure
  const message = error instanceof Error ? error.message : String(error)
  return new Failure('ssh_failed', { cause: error, values: { message } })
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

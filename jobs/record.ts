import { endJob, findJob, type Followed, type JobEnd, type JobPart, type JobRow, markLaunched } from '../db/jobs.ts'
import type { Database, Statement } from '../db/libsql/database.ts'
import { readOutput } from '../db/output.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import { LeaseLost, type OutputWriter } from './output.ts'

/**
 * What the database has of a job, as the one follower of an epoch reads and writes it. Everything rejects with a
 * LeaseLost when somebody else follows the job by now.
 */
export interface JobRecord {
  current(): Promise<JobRow>
  /** Adds the service's own words to the output, on a line of their own; they end as they are given. */
  say(text: string): Promise<void>
  /** The host has it; what it does one after another is kept, unless that is known already. */
  launched(parts?: readonly JobPart[]): Promise<void>
  /**
   * Records the end, with what the command has noted of its parts and what `result` makes of it. Somebody may have asked for it at another instance, or a moment ago: then
   * it ends as cancelled, with the lines of `leftovers` at the end of its output. Its row then.
   */
  end(end: JobEnd, of: JobEndings): Promise<JobRow>
}

/** What a kind of job has to say of an end. */
export interface JobEndings {
  notes: readonly string[]
  leftovers(): Promise<string[]>
  result(row: JobRow, cancelled: boolean): Promise<Statement[]>
}

const NEWLINE = 10

/** `stored` does a query until the database answers. */
export function createJobRecord(
  { db, clock, writer }: { db: Database; clock: Clock; writer: OutputWriter },
  { id, epoch }: Followed,
  stored: <result>(query: () => Promise<result>) => Promise<result>,
): JobRecord {
  const job = { id, epoch }

  const read = async (): Promise<JobRow> => {
    const found = await findJob(db, id)
    if (!found || found.epoch !== epoch) throw new LeaseLost(`job ${id} is followed elsewhere`)
    return found
  }

  const lastBytes = async ({ output_size }: JobRow, count: number): Promise<Buffer> => {
    const chunks = await readOutput(db, id, Math.max(0, output_size - count), count)
    return Buffer.concat(chunks.map(({ bytes }) => bytes))
  }

  const say = (text: string) =>
    stored(async () => {
      const at = await read()
      const [last] = await lastBytes(at, 1)
      const output = writer.open(at)
      await output.append(Buffer.from(last !== undefined && last !== NEWLINE ? `\n${text}` : text))
      await output.flush()
    })

  return {
    current: () => stored(read),
    say,
    async launched(parts) {
      if (!(await stored(() => markLaunched(db, job, parts)))) throw new LeaseLost(`job ${id} is followed elsewhere`)
    },
    async end(reached, { notes, leftovers, result }) {
      const now = timestamp(clock())
      const meant = notes.length > 0 ? (await stored(read)).parts : null
      const parts = meant && { parts: notedParts(meant, notes) }
      const end = { ...reached, ...parts }
      const ended = await stored(async () => endJob(db, job, end, { now, more: await result(await read(), false) }))
      if (ended) return stored(read)
      const at = await stored(read)
      const { cancelled_by: username, launched } = at
      if (username === null) throw new LeaseLost(`job ${id} has ended elsewhere`)
      const error = `Annulé par ${username}`
      // Whoever saw to it before may have said so without having come to record it.
      const words = Buffer.from(error)
      const said = epoch > 1 && words.equals(await stored(() => lastBytes(at, words.length)))
      if (!said) {
        const lines = [...(end.error ? [end.error] : []), ...(launched ? await leftovers() : [])]
        await say([...lines, error].join('\n'))
      }
      const cancelled = { status: 'error', error, error_code: 'cancelled', exit_code: end.exit_code, ...parts } as const
      await stored(async () =>
        endJob(db, job, cancelled, { now, cancelledBy: username, more: await result(await read(), true) }),
      )
      return stored(read)
    },
  }
}

/** The parts of a job before it begins. */
export function waitingParts(named: readonly { id: string; name: string }[]): JobPart[] {
  return named.map(({ id, name }) => ({ id, name, state: 'waiting', code: null }))
}

const NOTE = /^(\S+) ([a-z]+) (\d+)$/

/**
 * The parts of a job as its command has noted them, each in a line `<id> <state> <exit code>`. One that was not among those
 * that were meant is told by its id: another instance may have begun the job, of a list that it read before.
 */
export function notedParts(parts: readonly JobPart[], notes: readonly string[]): JobPart[] {
  const noted = new Map<string, JobPart>()
  for (const note of notes) {
    const [, id, state, code] = NOTE.exec(note) ?? []
    if (id !== undefined && state !== undefined) noted.set(id, { id, name: id, state, code: Number(code) })
  }
  const meant = parts.map((part) => ({ ...part, ...noted.get(part.id), name: part.name }))
  const known = new Set(parts.map(({ id }) => id))
  return [...meant, ...[...noted.values()].filter(({ id }) => !known.has(id))]
}

import { endJob, findJob, type Followed, type JobEnd, type JobPart, type JobRow, markLaunched } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import { readOutput } from '../db/output.ts'
import { type Clock, timestamp } from '../platform/clock.ts'
import type { EndedJob, JobResult, Leftovers } from './kind.ts'
import { LeaseLost, type OutputWriter } from './output.ts'

/**
 * The record of a job in the database, as its follower in one epoch reads and writes it. Every call rejects with a
 * LeaseLost when another instance has taken the job over.
 */
export interface JobRecord {
  current(): Promise<JobRow>
  /** Appends a text of the service to the output, starting on a new line. Adds no line break at the end. */
  appendText(text: string): Promise<void>
  /** Adds a line of the service to the output, unless the end of the output has it. */
  tell(line: string): Promise<void>
  /** Records that the host has the job, and its parts unless they are recorded already. */
  launched(parts?: readonly JobPart[]): Promise<void>
  /**
   * Records the end, with the states of the parts that the command noted and with the statements of `result`, whose
   * failure makes the end of a command an error. A job that a user has cancelled, at any instance, ends as cancelled,
   * with the lines of `leftovers` at the end of its output. Returns the row after the end.
   */
  end(end: JobEnd, of: JobEndings): Promise<JobRow>
}

/** The details of an end that the command and the kind of job add. */
export interface JobEndings {
  notes: readonly string[]
  /** The remains of a lost job, whose lines its output ends with. */
  left?: Leftovers | undefined
  /** Asks for the remains of a cancelled job. */
  leftovers(): Promise<Leftovers | undefined>
  result(ended: Omit<EndedJob, 'db'>): Promise<JobResult>
}

const NEWLINE = 10
/** Bytes at the end of the output in which a told line is looked for. */
const TOLD = 8 * 1024

/** `stored` repeats a query until the database answers. */
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

  const appendText = (text: string) =>
    stored(async () => {
      const at = await read()
      const [last] = await lastBytes(at, 1)
      const output = writer.open(at)
      await output.append(Buffer.from(last !== undefined && last !== NEWLINE ? `\n${text}` : text))
      await output.flush()
    })

  /** Appends the last line of the output, after other lines, unless a previous follower stored it and then died. */
  const appendOnce = async (text: string, before = async (): Promise<string[]> => []) => {
    const bytes = Buffer.from(text)
    const isStored = epoch > 1 && bytes.equals(await stored(async () => lastBytes(await read(), bytes.length)))
    if (!isStored) await appendText([...(await before()), text].join('\n'))
  }

  return {
    current: () => stored(read),
    appendText,
    async tell(line) {
      const told = await stored(async () => lastBytes(await read(), TOLD))
      if (!told.toString().split('\n').includes(line)) await appendText(`${line}\n`)
    },
    async launched(parts) {
      if (!(await stored(() => markLaunched(db, job, parts)))) throw new LeaseLost(`job ${id} is followed elsewhere`)
    },
    async end(ofCommand, { notes, left, leftovers, result }) {
      const now = timestamp(clock())
      const planned = notes.length > 0 ? (await stored(read)).parts : null
      const parts = planned && { parts: notedParts(planned, notes) }
      const end = { ...ofCommand, ...parts }
      const broken = end.error_code === null ? undefined : { message: end.error ?? '', code: end.error_code }
      const known = { code: end.exit_code, at: now, notes, failure: broken }
      const stating = async (cancelled: boolean, found: unknown) =>
        result({ ...known, row: { ...(await read()), ...parts }, cancelled, found })
      if (left && left.lines.length > 0) await appendOnce(left.lines.join('\n'))
      const { statements, failure } = await stored(() => stating(false, left?.found))
      const failed = end.status === 'success' ? failure : undefined
      const replaced = failed && ({ status: 'error', error: failed.message, error_code: failed.code } as const)
      if (failed) await appendOnce(failed.message)
      const ended = await stored(() => endJob(db, job, { ...end, ...replaced }, { now, more: statements }))
      if (ended) return stored(read)
      const { cancelled_by: username, launched } = await stored(read)
      if (username === null) throw new LeaseLost(`job ${id} has ended elsewhere`)
      const error = `Annulé par ${username}`
      const remains = launched ? await leftovers() : undefined
      await appendOnce(error, async () => [...(end.error ? [end.error] : []), ...(remains?.lines ?? [])])
      const cancelled = { status: 'error', error, error_code: 'cancelled', exit_code: end.exit_code, ...parts } as const
      await stored(async () => {
        const { statements } = await stating(true, remains?.found)
        return endJob(db, job, cancelled, { now, cancelledBy: username, more: statements })
      })
      return stored(read)
    },
  }
}

/** The parts of a job before it starts. */
export function waitingParts(named: readonly { id: string; name: string }[]): JobPart[] {
  return named.map(({ id, name }) => ({ id, name, state: 'waiting', code: null }))
}

const NOTE = /^(\S+) ([a-z]+) (\d+)$/

/**
 * The parts of a job with the states that its command noted, each in a line `<id> <state> <exit code>`. A noted part
 * that is not in `parts` is added with its id as name: another instance may have started the job with an older list.
 */
export function notedParts(parts: readonly JobPart[], notes: readonly string[]): JobPart[] {
  const noted = new Map<string, JobPart>()
  for (const note of notes) {
    const [, id, state, code] = NOTE.exec(note) ?? []
    if (id !== undefined && state !== undefined) noted.set(id, { id, name: id, state, code: Number(code) })
  }
  const planned = parts.map((part) => ({ ...part, ...noted.get(part.id), name: part.name }))
  const known = new Set(parts.map(({ id }) => id))
  return [...planned, ...[...noted.values()].filter(({ id }) => !known.has(id))]
}

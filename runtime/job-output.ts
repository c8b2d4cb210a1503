import type { Database, Statement } from '../db/client.ts'
import { insertOutput, type OutputChunk, updateSize } from '../db/output.ts'

/** Text of a running job on its way to the database. */
export interface JobText extends OutputChunk {
  /** How far into the host's file this text reaches. */
  hostOffset: number
}

/** The output of one job, written in order by one follower. After a failure it takes nothing more. */
export interface JobOutput {
  /** Settles at once while little waits, else when it is stored. Rejects when this or earlier text was not stored. */
  write(text: JobText): Promise<void>
  /** Settles when all that was written is stored and told; rejects when some of it could not be stored. */
  flush(): Promise<void>
}

export interface OutputWriter {
  open(jobId: string): JobOutput
}

/** Between two writes: a person sees no difference, and 200 jobs together make 50 writes a second, not 10,000. */
const EVERY_MS = 20
/** A job's reader waits once this much of its text does. */
const ENOUGH = 256 * 1024
/** Size of a row made of several pieces. OpenSSH's packets are as long: a flood of output is stored without a copy. */
const ROW = 32 * 1024

interface Source {
  jobId: string
  failure?: unknown
}

interface Piece extends JobText {
  source: Source
}

/**
 * Stores the text of all jobs, several pieces in one row and all jobs in one batch: the first piece after a pause at
 * once, then every 20 ms. `stored` is called for each row after it is safe, in order.
 */
export function createOutputWriter(db: Database, stored: (jobId: string, text: JobText) => void): OutputWriter {
  let waiting: Piece[] = []
  let size = 0
  let next: Promise<void> | undefined
  let last: Promise<void> = Promise.resolve()
  let lastAt = 0
  /** Ends the pause before the next write. */
  let hurry = () => {}

  const store = async () => {
    const rows = intoRows(waiting.filter(({ source }) => source.failure === undefined))
    waiting = []
    size = 0
    next = undefined
    try {
      await db.batch(statements(rows))
    } catch (error) {
      for (const { source } of rows) source.failure = error
      return
    }
    for (const row of rows) stored(row.source.jobId, row)
  }

  /** The next write of what waits now, in line after the one that is going on. */
  const schedule = (): Promise<void> => {
    next ??= (async () => {
      await last
      const pause = lastAt + EVERY_MS - performance.now()
      if (pause > 0 && size < ENOUGH) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pause)
          hurry = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      // A local libSQL works synchronously: between two writes the event loop gets its turn.
      await new Promise((resolve) => setImmediate(resolve))
      lastAt = performance.now()
      last = store()
      await last
    })()
    return next
  }

  return {
    open(jobId) {
      const source: Source = { jobId }
      const check = () => {
        if (source.failure !== undefined) throw source.failure
      }
      return {
        async write(text) {
          check()
          if (text.bytes.length === 0) return
          waiting.push({ ...text, source })
          size += text.bytes.length
          const written = schedule()
          if (size >= ENOUGH) {
            hurry()
            await written
          }
          check()
        },
        async flush() {
          hurry()
          await (next ?? last)
          check()
        },
      }
    },
  }
}

/** One insert a row, and for each job where its last row ends. */
function statements(rows: readonly Piece[]): Statement[] {
  const ends = new Map(rows.map((row) => [row.source, row]))
  return [
    ...rows.map((row) => insertOutput(row.source.jobId, row)),
    ...Array.from(ends.values(), (row) => updateSize(row.source.jobId, row.offset + row.bytes.length, row.hostOffset)),
  ]
}

/** Puts neighbouring pieces of one job together, as far as a row holds. */
function intoRows(pieces: readonly Piece[]): Piece[] {
  const rows: Piece[] = []
  const open = new Map<Source, { parts: Piece[]; size: number }>()
  const close = (parts: readonly Piece[]) => {
    const [first, last] = [parts[0], parts.at(-1)]
    if (!first || !last) return
    const bytes = first === last ? first.bytes : Buffer.concat(parts.map((part) => part.bytes))
    rows.push({ ...first, hostOffset: last.hostOffset, bytes })
  }
  for (const piece of pieces) {
    const row = open.get(piece.source)
    if (row && row.size + piece.bytes.length <= ROW) {
      row.parts.push(piece)
      row.size += piece.bytes.length
    } else {
      if (row) close(row.parts)
      open.set(piece.source, { parts: [piece], size: piece.bytes.length })
    }
  }
  for (const { parts } of open.values()) close(parts)
  return rows
}

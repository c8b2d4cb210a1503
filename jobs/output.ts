import type { Followed, JobRow } from '../db/jobs.ts'
import type { Database, Statement } from '../db/libsql/database.ts'
import { insertOutput, type OutputChunk, updateSize } from '../db/output.ts'
import { EVENT_BYTES } from './events.ts'
import { litter } from './litter.ts'
import { cutText } from './output-text.ts'
import { createTurningSpace } from './turning-space.ts'

/** Text of a running job on its way to the database. */
export interface JobText extends OutputChunk {
  /** How far into the host's file this text reaches. */
  hostOffset: number
}

/** Another instance follows the job by now: what this one has to say of it counts no more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** The output of one job, written in order by one follower. After a failure it takes nothing more. */
export interface JobOutput {
  /**
   * Appends valid UTF-8 in whole characters, which reaches to `hostOffset` in the host's file; without one it is the
   * service's own. Undefined while little waits, else a promise that settles when it is stored. It rejects when this or earlier
   * text was not stored, with a LeaseLost when somebody else follows the job.
   */
  append(bytes: Buffer, hostOffset?: number): Promise<void> | undefined
  /** Settles when all that was written is stored and told; rejects when some of it could not be stored. */
  flush(): Promise<void>
  /** Aborted as soon as some of it could not be stored. */
  failed: AbortSignal
}

export interface OutputWriter {
  /** Goes on where the job's row says that its output ends. */
  open(job: Followed & Pick<JobRow, 'output_size' | 'host_offset'>): JobOutput
}

/** Between two writes: a person sees no difference, and 200 jobs together make 50 writes a second, not 10,000. */
const EVERY_MS = 20
/** So much is written at once. */
const ENOUGH = 1024 * 1024
/** Readers wait once this much does: as much as a host sends before it hears from ssh2, whose buffers stay empty then. */
const FULL = 2 * ENOUGH
/** Size of a row made of several pieces: long ones compress well, and whoever reads one holds all of it. */
const ROW = 256 * 1024
/** So much is told in one turn of the event loop: a socket may have four times as much waiting. */
const A_TURN = 256 * 1024

interface Source {
  job: Followed
  failure?: unknown
  failed: AbortController
}

interface Piece extends JobText {
  source: Source
}

/**
 * Stores the text of all jobs, several pieces in one row and all jobs in one batch: the first piece after a pause at
 * once, then every 20 ms. `stored` is called with all of it, in order, after it is safe, and says whether anybody
 * listens; the bytes are good for that call.
 */
export function createOutputWriter(db: Database, stored: (jobId: string, text: JobText) => boolean): OutputWriter {
  const space = createTurningSpace(FULL + ENOUGH)
  let waiting: Piece[] = []
  let size = 0
  let next: Promise<void> | undefined
  let last: Promise<void> = Promise.resolve()
  let lastAt = 0
  /** Ends the pause before the next write. */
  let hurry = () => {}

  /** Writes them in one transaction; whose could not be written has failed. */
  const write = async (pieces: readonly Piece[]) => {
    const ends = new Map(pieces.map((piece) => [piece.source, piece]))
    try {
      const rows = neighbours(pieces, ROW).map((row) => insertOutput(row.source.job, row))
      const counts = await db.batch([...rows, ...[...ends.values()].map(endOf)])
      const sizes = counts.slice(rows.length)
      for (const [at, source] of [...ends.keys()].entries()) {
        if (sizes[at] === 0) source.failure = new LeaseLost(`job ${source.job.id} is followed elsewhere`)
      }
    } catch (error) {
      for (const source of ends.keys()) source.failure = error
    }
    for (const source of ends.keys()) if (source.failure !== undefined) source.failed.abort()
  }

  /** Tells of them, a turn of the event loop at a time: sockets must get rid of them meanwhile. */
  const tell = async (pieces: readonly Piece[]) => {
    let told = 0
    for (const { source, offset, size, pieces: parts, hostOffset } of neighbours(pieces, EVENT_BYTES)) {
      if (source.failure !== undefined) continue
      if (told >= A_TURN) {
        await nextTurn()
        told = 0
      }
      if (stored(source.job.id, { offset, bytes: inOne(parts), hostOffset })) told += size
    }
  }

  const store = async () => {
    const pieces = waiting.filter(({ source }) => source.failure === undefined)
    // What they came in, and what the ones before were stored in.
    litter(size)
    waiting = []
    space.turn()
    size = 0
    next = undefined
    await write(pieces)
    await tell(pieces)
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
      await nextTurn()
      lastAt = performance.now()
      last = store()
      await last
    })()
    return next
  }

  return {
    open({ id, epoch, output_size, host_offset }) {
      const source: Source = { job: { id, epoch }, failed: new AbortController() }
      let [offset, hostOffset] = [output_size, host_offset]
      const check = () => {
        if (source.failure !== undefined) throw source.failure
      }
      return {
        failed: source.failed.signal,
        append(bytes, upTo = hostOffset) {
          if (source.failure !== undefined) return Promise.reject(source.failure)
          if (bytes.length === 0) return undefined
          for (const piece of cutText(bytes, EVENT_BYTES)) {
            offset += piece.length
            const last = piece.byteOffset + piece.length === bytes.byteOffset + bytes.length
            waiting.push({
              source,
              offset: offset - piece.length,
              bytes: space.keep(piece),
              hostOffset: last ? upTo : hostOffset,
            })
          }
          hostOffset = upTo
          size += bytes.length
          const written = schedule()
          if (size >= ENOUGH) hurry()
          return size < FULL ? undefined : written.then(check)
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

/** Where a job's output ends with this piece. */
function endOf({ source, offset, bytes, hostOffset }: Piece): Statement {
  return updateSize(source.job, offset + bytes.length, hostOffset)
}

/** Neighbouring pieces of one job. */
interface Neighbours {
  source: Source
  offset: number
  hostOffset: number
  size: number
  pieces: Buffer[]
}

/** Puts pieces of one job together, up to that size. */
function neighbours(pieces: readonly Piece[], most: number): Neighbours[] {
  const all: Neighbours[] = []
  const latest = new Map<Source, Neighbours>()
  for (const { source, offset, hostOffset, bytes } of pieces) {
    const open = latest.get(source)
    if (open && open.size + bytes.length <= most) {
      open.pieces.push(bytes)
      open.size += bytes.length
      open.hostOffset = hostOffset
    } else {
      const next = { source, offset, hostOffset, size: bytes.length, pieces: [bytes] }
      latest.set(source, next)
      all.push(next)
    }
  }
  return all
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function inOne(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces
  return first && pieces.length === 1 ? first : Buffer.concat(pieces)
}

import type { Followed, JobRow } from '../db/jobs.ts'
import type { Database, Statement } from '../db/libsql/database.ts'
import { encodeChunk, insertOutput, type OutputChunk, updateSize } from '../db/output.ts'
import { free, freeOwn } from '../platform/memory.ts'
import { EVENT_BYTES } from './events.ts'
import { cutText } from './output-text.ts'

/** Text of a running job on its way to the database. */
export interface JobText extends OutputChunk {
  /** How far into the host's file this text reaches. */
  hostOffset: number
}

/** Another instance follows the job by now, and refuses what this one stores of it. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** The output of one job, written in order by one follower. After a failure it refuses all further text. */
export interface JobOutput {
  /**
   * Appends valid UTF-8 in whole characters, which reaches to `hostOffset` in the host's file; without `hostOffset` the
   * text is the service's own. Takes the bytes over: their memory is freed once they are stored and published. Returns
   * undefined while little waits, otherwise a promise that settles when they are stored. The promise rejects when this or
   * earlier text was not stored, with a LeaseLost when another instance follows the job.
   */
  append(bytes: Buffer, hostOffset?: number): Promise<void> | undefined
  /** Settles when all appended text is stored and published; rejects when some of it could not be stored. */
  flush(): Promise<void>
  /** Aborted as soon as some of the text could not be stored. */
  failed: AbortSignal
}

export interface OutputWriter {
  /** Continues at the end of the output that the job's row records. */
  open(job: Followed & Pick<JobRow, 'output_size' | 'host_offset'>): JobOutput
}

/** Pause between two writes: a person sees no difference, and 200 jobs together cause 50 writes a second, not 10,000. */
const EVERY_MS = 20
/** Bytes that are written without waiting for the end of the pause. */
const ENOUGH = 1024 * 1024
/** Readers wait while this many bytes do: the size of ssh2's window, so that its own buffers stay empty. */
const FULL = 2 * ENOUGH
/** Maximum size of a row made of several pieces: long rows compress well, but a reader holds a whole one in memory. */
const ROW = 256 * 1024
/** Bytes published in one turn of the event loop: a quarter of what may wait in a socket. */
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
 * once, then every 20 ms. Calls `stored` with all text, in order, after the commit; the bytes are valid during the call,
 * which returns whether anybody listens. Without the batches each packet of each job would be a transaction of its own,
 * and a flood of output would stop the event loop.
 */
export function createOutputWriter(db: Database, stored: (jobId: string, text: JobText) => boolean): OutputWriter {
  let waiting: Piece[] = []
  let size = 0
  let next: Promise<void> | undefined
  let last: Promise<void> = Promise.resolve()
  let lastAt = 0
  /** Ends the pause before the next write. */
  let hurry = () => {}

  /** Writes the pieces in one transaction. The sources of pieces that could not be written have failed. */
  const write = async (pieces: readonly Piece[]) => {
    const ends = new Map(pieces.map((piece) => [piece.source, piece]))
    try {
      const rows = neighbours(pieces, ROW).map((row) => ({ ...row, ...encodeChunk(row.pieces) }))
      const inserts = rows.map((row) => insertOutput(row.source.job, row))
      const counts = await db.batch([...inserts, ...[...ends.values()].map(endOf)])
      for (const { chunk, pieces: parts } of rows) if (chunk !== parts[0]) free(chunk.buffer)
      const sizes = counts.slice(rows.length)
      for (const [at, source] of [...ends.keys()].entries()) {
        if (sizes[at] === 0) source.failure = new LeaseLost(`job ${source.job.id} is followed elsewhere`)
      }
    } catch (error) {
      for (const source of ends.keys()) source.failure = error
    }
    for (const source of ends.keys()) if (source.failure !== undefined) source.failed.abort()
  }

  /** Publishes the pieces, some in each turn of the event loop, so that sockets can send them meanwhile. */
  const publish = async (pieces: readonly Piece[]) => {
    let published = 0
    for (const { source, offset, size, pieces: parts, hostOffset } of neighbours(pieces, EVENT_BYTES)) {
      if (source.failure !== undefined) continue
      if (published >= A_TURN) {
        await nextTurn()
        published = 0
      }
      const bytes = inOne(parts)
      if (stored(source.job.id, { offset, bytes, hostOffset })) published += size
      if (parts.length > 1) freeOwn(bytes)
    }
  }

  const store = async () => {
    const pieces = waiting.filter(({ source }) => source.failure === undefined)
    waiting = []
    size = 0
    next = undefined
    await write(pieces)
    await publish(pieces)
    // A batch that failed may still be on its way to a remote database.
    for (const { source, bytes } of pieces) if (source.failure === undefined) freeOwn(bytes)
  }

  /** Returns the next write of the waiting pieces, which begins after the current one. */
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
              bytes: piece,
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

/** Records that a job's output ends with this piece. */
function endOf({ source, offset, bytes, hostOffset }: Piece): Statement {
  return updateSize(source.job, offset + bytes.length, hostOffset)
}

/** Consecutive pieces of one job. */
interface Neighbours {
  source: Source
  offset: number
  hostOffset: number
  size: number
  pieces: Buffer[]
}

/** Joins pieces of one job, up to that size. */
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

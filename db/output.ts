import * as z from 'zod'
import { free } from '../platform/memory.ts'
import type { Followed } from './jobs.ts'
import { compress, decompress } from './libsql/brotli.ts'
import type { Database, Statement } from './libsql/database.ts'

const Row = z.object({
  offset: z.number(),
  chunk: z.instanceof(ArrayBuffer).transform((bytes) => Buffer.from(bytes)),
  encoding: z.literal('br').nullable(),
})

/** A piece of a job's stored text: UTF-8, whole characters; `offset` is in bytes from the start of the text. */
export interface OutputChunk {
  offset: number
  bytes: Buffer
}

/** A chunk as its row holds it: in Brotli (`br`, HTTP's name for it) where that makes it shorter. */
export interface StoredChunk {
  chunk: Buffer
  encoding: 'br' | null
}

/** Shorter chunks are a few lines for a person; compressing them saves next to nothing. */
const WORTH_COMPRESSING = 4096

/** Joins consecutive pieces to the chunk of one row. A chunk that was not compressed may be the only piece itself. */
export function encodeChunk(pieces: readonly Buffer[]): StoredChunk {
  const [first] = pieces
  const bytes = first && pieces.length === 1 ? first : joined(pieces)
  if (bytes.length < WORTH_COMPRESSING) return { chunk: bytes, encoding: null }
  const chunk = compress(bytes)
  if (chunk.length >= bytes.length) return { chunk: bytes, encoding: null }
  if (bytes !== first) free(bytes.buffer)
  return { chunk, encoding: 'br' }
}

/** Like `Buffer.concat`, but never in Node's pool, so that the chunk owns its memory. */
function joined(pieces: readonly Buffer[]): Buffer {
  const all = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) at += piece.copy(all, at)
  return all
}

/** Stores one chunk, if the job is still followed in this epoch. */
export function insertOutput(
  { id, epoch }: Followed,
  { offset, chunk, encoding }: StoredChunk & { offset: number },
): Statement {
  return {
    sql: `INSERT INTO job_output (job_id, offset, chunk, encoding)
          SELECT id, ?, ?, ? FROM jobs WHERE id = ? AND epoch = ? AND status = 'running'`,
    args: [offset, chunk, encoding, id, epoch],
  }
}

/**
 * Records how far a job's output is stored: in bytes of the text, and of the host's file that it was made from. Changes
 * no row when the job is followed in another epoch.
 */
export function updateSize({ id, epoch }: Followed, outputSize: number, hostOffset: number): Statement {
  return {
    sql: `UPDATE jobs SET output_size = ?, host_offset = ? WHERE id = ? AND epoch = ? AND status = 'running'`,
    args: [outputSize, hostOffset, id, epoch],
  }
}

/**
 * Returns the stored text from byte `from` on: at least one chunk if there is one, and at most one chunk more than
 * `limit` bytes. Each chunk owns its memory, which the caller may `free`.
 */
export async function readOutput(db: Database, jobId: string, from: number, limit: number): Promise<OutputChunk[]> {
  const rows = await db.query(
    Row,
    `SELECT offset, chunk, encoding FROM job_output
     WHERE job_id = ?1 AND offset < ?2 + ?3
       AND offset >= (SELECT coalesce(max(offset), 0) FROM job_output WHERE job_id = ?1 AND offset <= ?2)
     ORDER BY offset`,
    [jobId, from, limit],
  )
  return rows.flatMap(({ offset, chunk, encoding }) => {
    const bytes = encoding ? decompress(chunk) : chunk
    if (encoding) free(chunk.buffer)
    const skip = Math.max(0, from - offset)
    return skip >= bytes.length ? [] : [{ offset: offset + skip, bytes: bytes.subarray(skip) }]
  })
}

/**
 * Removes a piece of the output of the oldest job of a kind that is not among its newest `keep`; false when none is left
 * to remove. The job's `output_from` records where its remaining output begins.
 */
export async function removeOldOutput(db: Database, { kind, keep }: { kind: string; keep: number }): Promise<boolean> {
  const [job] = await db.query(
    Old,
    `SELECT id FROM (SELECT id, status, output_from, output_size FROM jobs
      WHERE kind = ? ORDER BY rowid DESC LIMIT -1 OFFSET ?)
     WHERE status <> 'running' AND output_from < output_size LIMIT 1`,
    [kind, keep],
  )
  if (!job) return false
  await db.batch([
    {
      sql: `DELETE FROM job_output WHERE job_id = ?1 AND offset IN
            (SELECT offset FROM
              (SELECT offset, length(chunk) AS size, sum(length(chunk)) OVER (ORDER BY offset) AS sum
               FROM job_output WHERE job_id = ?1 ORDER BY offset LIMIT ?2)
             WHERE sum - size < ?3)`,
      args: [job.id, REMOVED_ROWS, REMOVED_BYTES],
    },
    {
      sql: `UPDATE jobs SET output_from = coalesce((SELECT min(offset) FROM job_output WHERE job_id = ?1), output_size)
            WHERE id = ?1`,
      args: [job.id],
    },
  ])
  return true
}

const Old = z.object({ id: z.string() })
/** Rows and bytes removed at a time: others write in between. */
const REMOVED_ROWS = 128
const REMOVED_BYTES = 4 * 1024 * 1024

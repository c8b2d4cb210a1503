import { brotliDecompressSync } from 'node:zlib'
import * as z from 'zod'
import type { Followed } from './jobs.ts'
import { compress } from './libsql/brotli.ts'
import type { Database, Statement } from './libsql/database.ts'

const Row = z.object({
  offset: z.number(),
  chunk: z.instanceof(ArrayBuffer).transform((bytes) => Buffer.from(bytes)),
  encoding: z.literal('br').nullable(),
})

/** A piece of a job's stored text: UTF-8, whole characters, `offset` in bytes from the start of the text. */
export interface OutputChunk {
  offset: number
  bytes: Buffer
}

/** A chunk on its way into a row, in neighbouring pieces. */
export interface NewChunk {
  offset: number
  pieces: readonly Buffer[]
}

/** Stores one chunk, if the job is still followed in this epoch. */
export function insertOutput({ id, epoch }: Followed, { offset, pieces }: NewChunk): Statement {
  const { chunk, encoding } = encoded(pieces)
  return {
    sql: `INSERT INTO job_output (job_id, offset, chunk, encoding)
          SELECT id, ?, ?, ? FROM jobs WHERE id = ? AND epoch = ? AND status = 'running'`,
    args: [offset, chunk, encoding, id, epoch],
  }
}

/** What is shorter is a few lines for a person, not worth the while. */
const WORTH_COMPRESSING = 4096

/** The bytes as their row holds them: in Brotli, by the name that HTTP gives it, where that makes them fewer. */
function encoded(pieces: readonly Buffer[]): { chunk: Buffer; encoding: 'br' | null } {
  const bytes = joined(pieces)
  if (bytes.length >= WORTH_COMPRESSING) {
    const chunk = compress(bytes)
    if (chunk.length < bytes.length) return { chunk, encoding: 'br' }
  }
  // A copy: a remote database may take its time, and the pieces' memory is used again.
  return { chunk: Buffer.from(bytes), encoding: null }
}

let space: Buffer = Buffer.alloc(0)

/** The pieces in one, good until the next call: new memory for each is what a flood of output would fill it with. */
function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces
  if (first && pieces.length === 1) return first
  const size = pieces.reduce((sum, { length }) => sum + length, 0)
  if (space.length < size) space = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const piece of pieces) at += piece.copy(space, at)
  return space.subarray(0, size)
}

/**
 * Records how far a job's output is stored: in bytes of the text, and of the host's file that it was made of. Changes no
 * row when the job is followed in another epoch.
 */
export function updateSize({ id, epoch }: Followed, outputSize: number, hostOffset: number): Statement {
  return {
    sql: `UPDATE jobs SET output_size = ?, host_offset = ? WHERE id = ? AND epoch = ? AND status = 'running'`,
    args: [outputSize, hostOffset, id, epoch],
  }
}

/** The stored text from a byte on, at least one chunk if there is one and not many over `limit` bytes. */
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
    const bytes = encoding ? brotliDecompressSync(chunk) : chunk
    const skip = Math.max(0, from - offset)
    return skip >= bytes.length ? [] : [{ offset: offset + skip, bytes: bytes.subarray(skip) }]
  })
}

/**
 * Removes a piece of the output of the oldest job of a kind that is not among its newest `keep`; false when there is none
 * left to remove. Its record says from where on there is output.
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
/** Few at a time, also of the long ones: others write in between. */
const REMOVED_ROWS = 128
const REMOVED_BYTES = 4 * 1024 * 1024

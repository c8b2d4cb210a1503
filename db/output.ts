import * as z from 'zod'
import type { Database, Statement } from './client.ts'
import type { Followed } from './jobs.ts'

const Chunk = z.object({ offset: z.number(), chunk: z.instanceof(ArrayBuffer) })

/** A piece of a job's stored text: UTF-8, whole characters, `offset` in bytes from the start of the text. */
export interface OutputChunk {
  offset: number
  bytes: Buffer
}

/** Stores one chunk, if the job is still followed in this epoch. */
export function insertOutput({ id, epoch }: Followed, { offset, bytes }: OutputChunk): Statement {
  return {
    sql: `INSERT INTO job_output (job_id, offset, chunk)
          SELECT id, ?, ? FROM jobs WHERE id = ? AND epoch = ? AND status = 'running'`,
    args: [offset, bytes, id, epoch],
  }
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

/** Stores one chunk and where it ends. */
export function appendOutput(job: Followed, chunk: OutputChunk, hostOffset: number): Statement[] {
  return [insertOutput(job, chunk), updateSize(job, chunk.offset + chunk.bytes.length, hostOffset)]
}

/** The stored text from a byte on, at least one chunk if there is one and not many over `limit` bytes. */
export async function readOutput(db: Database, jobId: string, from: number, limit: number): Promise<OutputChunk[]> {
  const rows = await db.query(
    Chunk,
    `SELECT offset, chunk FROM job_output
     WHERE job_id = ?1 AND offset < ?2 + ?3
       AND offset >= (SELECT coalesce(max(offset), 0) FROM job_output WHERE job_id = ?1 AND offset <= ?2)
     ORDER BY offset`,
    [jobId, from, limit],
  )
  return rows.flatMap(({ offset, chunk }) => {
    const skip = Math.max(0, from - offset)
    if (skip >= chunk.byteLength) return []
    return [{ offset: offset + skip, bytes: Buffer.from(chunk, skip) }]
  })
}

/**
 * Removes a piece of the output of the oldest job that is not among the newest `keep`; false when there is none left to
 * remove. Its record says from where on there is output.
 */
export async function removeOldOutput(db: Database, keep: number): Promise<boolean> {
  const [job] = await db.query(
    Old,
    `SELECT id FROM (SELECT id, status, output_from, output_size FROM jobs ORDER BY rowid DESC LIMIT -1 OFFSET ?)
     WHERE status <> 'running' AND output_from < output_size LIMIT 1`,
    [keep],
  )
  if (!job) return false
  await db.batch([
    {
      sql: `DELETE FROM job_output WHERE job_id = ?1 AND offset IN
            (SELECT offset FROM job_output WHERE job_id = ?1 ORDER BY offset LIMIT ?2)`,
      args: [job.id, REMOVED_ROWS],
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
/** Some 4 MB at a time: others write in between. */
const REMOVED_ROWS = 128

import * as z from 'zod'
import type { Database, Statement } from './client.ts'

const Chunk = z.object({ offset: z.number(), chunk: z.instanceof(ArrayBuffer) })

/** A piece of a job's stored text: UTF-8, whole characters, `offset` in bytes from the start of the text. */
export interface OutputChunk {
  offset: number
  bytes: Buffer
}

/** Stores one chunk. */
export function insertOutput(jobId: string, { offset, bytes }: OutputChunk): Statement {
  return { sql: 'INSERT INTO job_output (job_id, offset, chunk) VALUES (?, ?, ?)', args: [jobId, offset, bytes] }
}

/** Records how far a job's output is stored: in bytes of the text, and of the host's file that it was made of. */
export function updateSize(jobId: string, outputSize: number, hostOffset: number): Statement {
  return { sql: 'UPDATE jobs SET output_size = ?, host_offset = ? WHERE id = ?', args: [outputSize, hostOffset, jobId] }
}

/** Stores one chunk and where it ends. */
export function appendOutput(jobId: string, chunk: OutputChunk, hostOffset: number): Statement[] {
  return [insertOutput(jobId, chunk), updateSize(jobId, chunk.offset + chunk.bytes.length, hostOffset)]
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

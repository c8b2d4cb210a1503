import * as z from 'zod'
import type { Database, Statement } from './client.ts'

const Chunk = z.object({ offset: z.number(), chunk: z.instanceof(ArrayBuffer) })

/** A piece of a job's stored text: UTF-8, whole characters, `offset` in bytes from the start of the text. */
export interface OutputChunk {
  offset: number
  bytes: Buffer
}

/** Statements that store one chunk and where it ends, in the text and in the host's file. */
export function appendOutput(jobId: string, { offset, bytes }: OutputChunk, hostOffset: number): Statement[] {
  return [
    { sql: 'INSERT INTO job_output (job_id, offset, chunk) VALUES (?, ?, ?)', args: [jobId, offset, bytes] },
    {
      sql: 'UPDATE jobs SET output_size = ?, host_offset = ? WHERE id = ?',
      args: [offset + bytes.length, hostOffset, jobId],
    },
  ]
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

import * as z from 'zod'
import { findJob } from '../../db/jobs.ts'
import { readOutput } from '../../db/output.ts'
import { defineFunction, READS } from '../../runtime/function.ts'

/** What is given at a time, in bytes. */
const MAX = 1024 * 1024

/**
 * The output of a job from a byte on, a mebibyte at most, for who polls: `next_offset` is where to go on, and `ended`
 * says that nothing comes after it. What retention has removed is passed over.
 */
export default defineFunction({
  method: 'GET',
  path: '/api/updates/jobs/:id/output',
  auth: 'user',
  rateLimit: READS,
  request: {
    params: z.object({ id: z.string() }),
    query: z.object({ offset: z.coerce.number().int().min(0).default(0) }),
  },
  response: z.object({ chunk: z.string(), offset: z.number(), next_offset: z.number(), ended: z.boolean() }),
  errors: ['job_missing'],

  async handler({ params: { id }, query }, { db, fail }) {
    const job = await findJob(db, id)
    if (!job) throw fail('job_missing')
    const offset = Math.max(Math.min(query.offset, job.output_size), job.output_from)
    const bytes: Buffer[] = []
    let next_offset = offset
    for (const chunk of await readOutput(db, id, offset, MAX)) {
      const end = chunk.offset + chunk.bytes.length
      if (end - offset > MAX) break
      bytes.push(chunk.bytes)
      next_offset = end
    }
    const ended = job.status !== 'running' && next_offset >= job.output_size
    return { chunk: Buffer.concat(bytes).toString(), offset, next_offset, ended }
  },
})

import * as z from 'zod'
import { findJob } from '../../db/jobs.ts'
import { type OutputChunk, readOutput } from '../../db/output.ts'
import { defineFunction, READS } from '../../runtime/function.ts'
import { JsonStream, jsonText } from '../../runtime/json-stream.ts'

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
    const chunks = (await readOutput(db, id, offset, MAX)).filter((chunk) => endOf(chunk) - offset <= MAX)
    const last = chunks.at(-1)
    const next_offset = last ? endOf(last) : offset
    const ended = job.status !== 'running' && next_offset >= job.output_size
    return new JsonStream(pieces(chunks, { offset, next_offset, ended }))
  },
})

function endOf({ offset, bytes }: OutputChunk): number {
  return offset + bytes.length
}

/** A stored chunk at a time: as one text, and that text in an answer, a mebibyte would be held several times over. */
async function* pieces(chunks: readonly OutputChunk[], rest: object): AsyncGenerator<string> {
  yield '{"chunk":"'
  for (const { bytes } of chunks) yield jsonText(bytes.toString())
  yield `",${JSON.stringify(rest).slice(1)}`
}

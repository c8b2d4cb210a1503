import * as z from 'zod'
import { type OutputChunk, readOutput } from '../../db/output.ts'
import { betweenCharacters, JobId } from '../../jobs/jobs.ts'
import { free } from '../../platform/memory.ts'
import { READS } from '../../runtime/function.ts'
import { integerText } from '../../runtime/input.ts'
import { JsonStream, jsonText } from '../../runtime/json-stream.ts'
import { defineFunction } from '../services.ts'
import { findUpdateJob } from './job-record.ts'

const Rest = z.object({ offset: z.int().min(0), next_offset: z.int().min(0), ended: z.boolean() })

export default defineFunction({
  method: 'GET',
  path: '/api/updates/jobs/:id/output',
  summary: 'The output of a job',
  description:
    'From a byte on, a mebibyte at most (less behind a function host), for who polls: `next_offset` is where to go on, and `ended` says that nothing comes after it. What retention has removed is passed over.',
  auth: 'user',
  rateLimit: READS,
  request: {
    params: z.object({ id: JobId }),
    query: z.object({ offset: integerText({ min: 0 }).default(0) }),
  },
  response: Rest.extend({ chunk: z.string() }),
  example: {
    query: { offset: 0 },
    response: { chunk: 'Reading package lists...\n', offset: 0, next_offset: 25, ended: false },
  },
  errors: ['job_missing'],

  async handler({ params: { id }, query }, { db, jobs, config: { outputBytes }, fail }) {
    await jobs.upToDate(id)
    const job = await findUpdateJob(db, id)
    if (!job) throw fail('job_missing')
    const offset = Math.max(Math.min(query.offset, job.output_size), job.output_from)
    const chunks = upTo(offset + outputBytes, await readOutput(db, id, offset, outputBytes))
    const next_offset = offset + chunks.reduce((sum, { length }) => sum + length, 0)
    const ended = job.status !== 'running' && next_offset >= job.output_size
    return new JsonStream(pieces(chunks, Rest.parse({ offset, next_offset, ended })))
  },
})

/** Returns the bytes of the chunks before `end`, cut at character boundaries. */
function upTo(end: number, chunks: readonly OutputChunk[]): Buffer[] {
  return chunks
    .filter(({ offset }) => offset < end)
    .map(({ offset, bytes }) => bytes.subarray(0, betweenCharacters(bytes, end - offset)))
}

/** Yields one stored chunk at a time. A single text inside an answer would hold a mebibyte several times over. */
async function* pieces(chunks: readonly Buffer[], rest: z.infer<typeof Rest>): AsyncGenerator<string> {
  yield '{"chunk":"'
  for (const bytes of chunks) {
    yield jsonText(bytes.toString())
    free(bytes)
  }
  yield `",${JSON.stringify(rest).slice(1)}`
}

import * as z from 'zod'
import { type OutputChunk, readOutput } from '../../db/output.ts'
import { betweenCharacters, cutText, JobId } from '../../jobs/jobs.ts'
import { free } from '../../platform/memory.ts'
import { READS } from '../../runtime/function.ts'
import { integerText } from '../../runtime/input.ts'
import { JsonStream, jsonText } from '../../runtime/json-stream.ts'
import { defineFunction } from '../services.ts'
import { findUpdateJob } from './job-record.ts'
import { targetsOfJob } from './job-targets.ts'

const Rest = z.object({ offset: z.int().min(0), next_offset: z.int().min(0), ended: z.boolean() })

export default defineFunction({
  method: 'GET',
  path: '/api/updates/jobs/:id/output',
  summary: 'The output of a job',
  description:
    'Returns the output from a byte on, a mebibyte at most (less behind a function host), for clients that poll. `next_offset` is the offset of the next request, and `ended` means that nothing follows it. An offset that a running job has not come to gets nothing until then. Output that retention has removed is skipped.',
  auth: 'user',
  targets: targetsOfJob,
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
    // A running job may come to what the client has: after a rollback of the service's own data, less is stored.
    const known = job.status === 'running' ? query.offset : Math.min(query.offset, job.output_size)
    const offset = Math.max(known, job.output_from)
    const read = await readOutput(db, id, offset, outputBytes)
    const chunks = upTo(offset + outputBytes, read)
    const next_offset = offset + chunks.reduce((sum, { length }) => sum + length, 0)
    const ended = job.status !== 'running' && next_offset >= job.output_size
    return new JsonStream(pieces(chunks, Rest.parse({ offset, next_offset, ended }), read))
  },
})

/** Returns the bytes of the chunks before `end`, cut at character boundaries. */
function upTo(end: number, chunks: readonly OutputChunk[]): Buffer[] {
  return chunks
    .filter(({ offset }) => offset < end)
    .map(({ offset, bytes }) => bytes.subarray(0, betweenCharacters(bytes, end - offset)))
}

/** Size of a piece of the answer. V8 frees short strings, and the bytes made of them, far sooner than long ones. */
const A_PIECE = 8 * 1024

/** Yields the answer in pieces: a mebibyte as a single text would be held several times over. */
async function* pieces(
  chunks: readonly Buffer[],
  rest: z.infer<typeof Rest>,
  read: readonly OutputChunk[],
): AsyncGenerator<string> {
  yield '{"chunk":"'
  for (const bytes of chunks) for (const piece of cutText(bytes, A_PIECE)) yield jsonText(piece.toString())
  for (const { bytes } of read) free(bytes.buffer)
  yield `",${JSON.stringify(rest).slice(1)}`
}

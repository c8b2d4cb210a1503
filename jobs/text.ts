import type { JobRow } from '../db/jobs.ts'
import type { Database } from '../db/libsql/database.ts'
import { readOutput } from '../db/output.ts'

/** The most output in a record, in bytes. Other endpoints return longer output piece by piece. */
const MAX = 4 * 1024 * 1024
/** Bytes of one read. */
const PIECE = 256 * 1024

type Job = Pick<JobRow, 'id' | 'error' | 'error_code' | 'exit_code' | 'output_size' | 'output_from'>

/**
 * The output of a job for its record: the error of a job whose command has not ended by itself, else its text, or the
 * end of a long text.
 */
export async function jobText(db: Database, job: Job): Promise<string> {
  let text = ''
  for await (const piece of jobPieces(db, job)) text += piece
  return text
}

/** Yields the text of `jobText` in pieces. */
export async function* jobPieces(
  db: Database,
  { id, error, error_code, exit_code, output_size, output_from }: Job,
): AsyncGenerator<string> {
  // The output of a cancelled job, and of one whose command has ended, ends with the error.
  if (error !== null && error_code !== 'cancelled' && exit_code === null) return yield error
  const from = Math.max(output_from, output_size - MAX)
  let at = from
  while (at < output_size) {
    const chunks = await readOutput(db, id, at, Math.min(PIECE, output_size - at))
    const first = chunks[0]
    // Retention has removed the rows in the meantime.
    if (!first) return
    // The cut may lie inside a character, whose remaining bytes are skipped.
    const skip = at === from && from > 0 ? restOfCharacter(first.bytes) : 0
    if (at === from && from > 0) yield `[… ${from + skip} octets omis …]\n`
    const bytes = Buffer.concat(chunks.map((chunk) => chunk.bytes))
    at = first.offset + bytes.length
    yield bytes.toString('utf8', skip)
  }
  if (at === from && from > 0) yield `[… ${from} octets omis …]\n`
}

function restOfCharacter(bytes: Buffer): number {
  return [0, 1, 2, 3].find((at) => ((bytes[at] ?? 0) & 0xc0) !== 0x80) ?? 0
}

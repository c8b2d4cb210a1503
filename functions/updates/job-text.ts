import type { Database } from '../../db/client.ts'
import type { JobRow } from '../../db/jobs.ts'
import { readOutput } from '../../db/output.ts'

/** Longest output that is put into a record; what is longer is read piece by piece elsewhere. */
const MAX = 4 * 1024 * 1024

/** The output of a job as its record tells it: the error of a failed one, else its text or the end of a long one. */
export async function jobText(db: Database, { id, error, output_size }: JobRow): Promise<string> {
  if (error !== null) return error
  const from = Math.max(0, output_size - MAX)
  const chunks = await readOutput(db, id, from, MAX)
  const text = Buffer.concat(chunks.map(({ bytes }) => bytes))
  if (from === 0) return text.toString()
  // The cut may lie inside a character: its remaining bytes go too.
  const start = [0, 1, 2, 3].find((at) => ((text[at] ?? 0) & 0xc0) !== 0x80) ?? 0
  return `[… ${from + start} octets omis …]\n${text.toString('utf8', start)}`
}

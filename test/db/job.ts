import { addJob, type NewJob } from '../../db/job-start.ts'
import type { Followed } from '../../db/jobs.ts'
import type { Database } from '../../db/libsql/database.ts'
import { encodeChunk, insertOutput, type OutputChunk, updateSize } from '../../db/output.ts'
import { saveUser } from '../../db/users.ts'
import { NOW } from './database.ts'

/** A lease that does not expire during a test. */
export const LEASE = { owner: 'one', leaseMs: 600_000 }

/** Records a job of user bob with the follower `one`. */
export async function recordJob(
  db: Database,
  id: string,
  more: Partial<NewJob> = {},
  lease: { owner: string; leaseMs: number } = LEASE,
): Promise<Followed> {
  const { id: started_by } = await saveUser(db, 'bob', false, NOW)
  const job = { id, kind: 'upgrade', args: '{"target":"host"}', queue: 'host', target: 'host', started_at: NOW }
  return addJob(db, { ...job, started_by, ...more }, lease)
}

/** Stores one chunk and the new sizes. Returns how many rows each of the two statements changed. */
export function appendOutput(
  db: Database,
  job: Followed,
  { offset, bytes }: OutputChunk,
  hostOffset: number,
): Promise<number[]> {
  return db.batch([
    insertOutput(job, { offset, ...encodeChunk([bytes]) }),
    updateSize(job, offset + bytes.length, hostOffset),
  ])
}

/** Stores pieces one after another, with equal offsets of text and host. Returns all bytes in one buffer. */
export async function storeOutput(db: Database, job: Followed, pieces: readonly (string | Buffer)[]): Promise<Buffer> {
  let offset = 0
  const stored: Buffer[] = []
  for (const piece of pieces) {
    const bytes = Buffer.from(piece)
    await appendOutput(db, job, { offset, bytes }, offset + bytes.length)
    offset += bytes.length
    stored.push(bytes)
  }
  return Buffer.concat(stored)
}

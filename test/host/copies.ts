import { createHash } from 'node:crypto'
import * as z from 'zod'
import { jobFolder } from './begun.ts'
import type { Caller } from './client.ts'
import { follow } from './follower.ts'
import { inside } from './rig.ts'

const Piece = z.object({ chunk: z.string(), offset: z.number(), next_offset: z.number(), ended: z.boolean() })
const Job = z.object({
  status: z.string(),
  output: z.string(),
  exit_code: z.number().nullable(),
  output_size: z.number(),
  finished_at: z.string().optional(),
})

/**
 * Hard-links the host's own file of a job's output as soon as it exists, and returns a function that reads it. The
 * database has the name of the job's folder; if it is absent, the job must be the only one.
 */
export async function keepHostFile(id: string, database?: string): Promise<() => Promise<Buffer>> {
  const folder = database === undefined ? '*' : await jobFolder(id, database)
  await inside(
    'host',
    `tries=0
    until ln /var/tmp/ops-panel-jobs-*/${folder}/output /var/tmp/kept-${id} 2>/dev/null; do
      tries=$((tries + 1))
      [ "$tries" -lt 2000 ] || exit 1
      sleep 0.02
    done`,
  )
  return async () => Buffer.from(await inside('host', `base64 -w0 /var/tmp/kept-${id}`), 'base64')
}

/** Returns the service's answer about one job. */
export async function jobDetail(caller: Caller, id: string) {
  const { status, body } = await caller.get(`/api/updates/jobs/${id}`)
  if (status !== 200) throw new Error(`job ${id}: ${status} ${JSON.stringify(body)}`)
  return Job.parse(body)
}

/** Returns the stored output of an ended job, read as a polling client reads it. */
export async function storedOutput(caller: Caller, id: string): Promise<string> {
  const chunks: string[] = []
  for (let at = 0; ; ) {
    const { chunk, offset, next_offset, ended } = Piece.parse(
      (await caller.get(`/api/updates/jobs/${id}/output?offset=${at}`)).body,
    )
    if (offset !== at) throw new Error(`${id}: asked for byte ${at}, got byte ${offset}`)
    chunks.push(chunk)
    if (ended) return chunks.join('')
    if (next_offset <= at) throw new Error(`${id}: nothing comes after byte ${at}`)
    at = next_offset
  }
}

export interface Hashes {
  host: string
  stored: string
  replayed: string
  live: string
}

/** Returns the SHA-256 of the four copies of an ended job's output, the host's with U+FFFD for invalid bytes. */
export async function hashes(
  caller: Caller,
  id: string,
  { hostFile, live }: { hostFile: Buffer; live: string },
): Promise<Hashes> {
  const replay = await follow(caller.service, id, { token: caller.token })
  const code = await replay.closed
  if (code !== 1000) throw new Error(`${id}: the replay was closed with ${code}`)
  return {
    host: sha256(hostFile.toString()),
    stored: sha256(await storedOutput(caller, id)),
    replayed: sha256(replay.output()),
    live: sha256(live),
  }
}

/** Returns four equal hashes. */
export function alike(hash: string): Hashes {
  return { host: hash, stored: hash, replayed: hash, live: hash }
}

/** Returns the numbers of rig-slow's lines in an output, in order. */
export function steps(output: string): number[] {
  return Array.from(output.matchAll(/^rig-slow: step (\d+) of /gm), ([, number]) => Number(number))
}

/** Returns the numbers from 1 to `count`. */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at + 1)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

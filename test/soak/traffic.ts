import { Agent, request } from 'undici'
import * as z from 'zod'
import type { Findings } from './findings.ts'
import type { Trouble, Weather } from './weather.ts'

/** The shared state of all clients: their target, and their records. */
export interface World {
  url: string
  weather: Weather
  findings: Findings
  /** Counts of each kind of answer. */
  count(kind: string): void
}

export interface Question {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  body?: object
  token?: string | undefined
  cookie?: string | undefined
  /** Codes of a refusal that this request may get without any fault. */
  mayRefuse?: readonly string[]
}

export interface Answer {
  status: number
  /** The code of an error; empty for a success. */
  code: string
  body: unknown
  cookie: string | undefined
  retryAfter: number | undefined
}

/** Longer than any wait of the service (30 s) and any fault of the run; a request that takes longer hangs. */
const HUNG_MS = 90_000

const ErrorBody = z.object({ error: z.string().min(1), code: z.string().regex(/^[a-z][a-z0-9_]*$/) })

/** Refusals that a fault may cause, with the fault. */
const EXCUSES: Readonly<Record<string, readonly Trouble[]>> = {
  storage_failed: ['lock'],
  ssh_failed: ['host', 'freeze'],
  ssh_unreachable: ['host', 'freeze'],
}

/** The connections of one client, which has its own address. */
export interface Line {
  /** Returns the answer; undefined when the connection was lost before. */
  ask(question: Question): Promise<Answer | undefined>
  close(): Promise<void>
}

export function createLine(world: World, address: string): Line {
  const agent = new Agent({ connections: 2, headersTimeout: HUNG_MS, bodyTimeout: HUNG_MS, connectTimeout: HUNG_MS })
  return {
    async ask(question) {
      const { method, path, body, token, cookie } = question
      const from = Date.now()
      const headers = {
        'x-forwarded-for': address,
        ...(body && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(cookie && { cookie }),
      }
      const sent = { dispatcher: agent, method, headers, ...(body && { body: JSON.stringify(body) }) }
      try {
        const response = await request(`${world.url}${path}`, sent)
        const text = await response.body.text()
        return judge(world, question, { from, status: response.statusCode, headers: response.headers, text })
      } catch (error) {
        lost(world, `${method} ${path}`, error)
        return undefined
      }
    },
    close: () => agent.destroy(),
  }
}

function lost({ count, findings }: World, what: string, error: unknown): void {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.endsWith('_TIMEOUT')) findings.add('hung', `${what}: ${code}`)
  count(code === 'ECONNREFUSED' ? 'connection refused' : 'connection lost')
}

interface Received {
  from: number
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

function judge(world: World, question: Question, { from, status, headers, text }: Received): Answer {
  const { weather, findings, count } = world
  const what = `${question.method} ${question.path}: ${status} ${text.slice(0, 200)}`
  const body = parsed(text)
  if (body === undefined) findings.add('undeclared', what)
  const failed = status >= 400
  const error = failed ? ErrorBody.safeParse(body) : undefined
  if (error && !error.success && !isHealth(body)) findings.add('undeclared', what)
  const code = error?.data?.code ?? (failed ? 'degraded' : '')
  count(failed ? `${status} ${code}` : 'answered')
  if (failed && !question.mayRefuse?.includes(code)) {
    const excuses = code === 'degraded' ? (['lock'] as const) : (EXCUSES[code] ?? [])
    if (!weather.met(excuses, from, Date.now())) findings.add('unexpected', what)
  }
  const [cookie] = [headers['set-cookie'] ?? []].flat()
  const retryAfter = Number(headers['retry-after'] ?? Number.NaN)
  return {
    status,
    code,
    body,
    cookie: cookie?.split(';')[0],
    retryAfter: Number.isNaN(retryAfter) ? undefined : retryAfter,
  }
}

/** The answer of a degraded service to a health check has no error code. */
function isHealth(body: unknown): boolean {
  return z.object({ status: z.literal('degraded'), boot_id: z.string() }).safeParse(body).success
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

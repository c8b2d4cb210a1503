import * as z from 'zod'
import { ERRORS } from '../../functions/services.ts'
import type { Answer, Outcome } from './client.ts'

const ErrorBody = z.strictObject({
  error: z.string().min(1),
  code: z.string(),
  details: z.array(z.strictObject({ field: z.string(), message: z.string() })).optional(),
  findings: z.array(z.looseObject({ code: z.string() })).optional(),
  job_id: z.string().optional(),
  challenge: z.string().optional(),
  factors: z.array(z.string()).optional(),
  passkey: z.looseObject({ challenge: z.string() }).optional(),
})

const statuses = new Map<string, number>(Object.entries(ERRORS).map(([code, [status]]) => [code, status]))

/** `at file:line:column`, plain or in JSON. */
const STACK = /(\n|\\n)\s*at [^\n]{0,300}?:\d+:\d+|node:internal|node_modules/

/** Returns how an answer breaks the rules for all answers; `declared` are the allowed codes of a status over 499. */
export function complaints(
  { status, headers, body }: Answer,
  { method, declared }: { method: string; declared: readonly string[] },
): string[] {
  const wrong: string[] = []
  const code = status >= 400 && method !== 'HEAD' ? refusal(status, body, wrong) : undefined
  if (status >= 500 && !declared.some((each) => each === code)) wrong.push(`status ${status} is not declared`)
  if (!headers['x-request-id']) wrong.push('no X-Request-Id')
  // The address of an immutable file changes with its content. A page is revalidated each time.
  const mayBeKept = status === 200 && headers['cache-control']?.endsWith('immutable')
  const isChecked = (status === 200 || status === 304) && headers['cache-control'] === 'no-cache' && headers.etag
  if (headers['cache-control'] !== 'no-store' && !mayBeKept && !isChecked)
    wrong.push(`Cache-Control: ${headers['cache-control']}`)
  if (status === 429 && !/^[1-9]\d*$/.test(headers['retry-after'] ?? '')) wrong.push('429 without Retry-After')
  if (status === 405 && !headers.allow) wrong.push('405 without Allow')
  if (STACK.test(body) || STACK.test(JSON.stringify(headers))) wrong.push('a stack trace')
  return wrong
}

/** Returns the code of a refusal, and reports a wrong format. */
function refusal(status: number, body: string, wrong: string[]): string | undefined {
  const parsed = ErrorBody.safeParse(json(body))
  if (!parsed.success) {
    wrong.push(`status ${status} without the form of an error`)
    return undefined
  }
  const { code } = parsed.data
  if (statuses.get(code) !== status) wrong.push(`code ${code} with status ${status}`)
  return code
}

/** Throws an error with all faults of an outcome. */
export function judge(
  outcome: Outcome,
  expected: { method: string; declared: readonly string[]; isSocket: boolean },
): void {
  if (outcome.kind === 'waiting' || outcome.kind === 'cut') return
  if (outcome.kind === 'opened') {
    if (!expected.isSocket) throw new Error('a function became a socket')
    if (outcome.closeCode === 1011) throw new Error('the socket was closed with 1011, an internal error')
    return
  }
  const { answer } = outcome
  const wrong = complaints(answer, expected)
  if (wrong.length === 0) return
  throw new Error(
    `${wrong.join('; ')}\n${answer.status} ${JSON.stringify(answer.headers)}\n${answer.body.slice(0, 2000)}`,
  )
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

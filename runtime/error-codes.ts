import * as z from 'zod'
import type { ErrorCode } from './errors.ts'
import type { AnyFunction } from './function.ts'

type Declared = Pick<AnyFunction, 'auth' | 'rateLimit' | 'request' | 'errors'>

/** The codes that the pipeline can answer a function's callers with: those of its declaration, and those that follow from it. */
export function codesOf({ auth, rateLimit, request = {}, errors = [] }: Declared): ReadonlySet<ErrorCode> {
  const { params, query, cookies, body, refusal = 'invalid_request' } = request
  return new Set<ErrorCode>([
    ...(rateLimit ? [rateLimit.refusal ?? 'rate_limited'] : []),
    ...(auth === 'user' || auth === 'admin' ? (['unauthenticated', 'rate_limited'] as const) : []),
    ...(auth === 'admin' ? (['forbidden'] as const) : []),
    ...(params && !Object.values(params.shape).every(takesAnyText) ? (['not_found'] as const) : []),
    ...(body || (query && !takesAnything(query)) ? [refusal] : []),
    ...(cookies && !takesAnything(cookies) ? (['invalid_request'] as const) : []),
    ...(body ? (['invalid_json', 'body_too_large'] as const) : []),
    ...errors,
    'storage_failed',
    'internal',
  ])
}

/** What any address may be answered with before a request comes as far as its function, or in a function host. */
export const TRANSPORT_CODES: readonly ErrorCode[] = [
  'malformed_http',
  'request_timeout',
  'headers_too_large',
  'not_configured',
  'answer_too_large',
]

/** Whether no query, or no cookies, can be wrong: what is missing may be, and any text will do. */
function takesAnything({ shape }: z.ZodObject): boolean {
  return Object.values(shape).every((each) => each instanceof z.ZodOptional && takesAnyText(each.unwrap()))
}

function takesAnyText(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodString && (schema.def.checks ?? []).length === 0
}

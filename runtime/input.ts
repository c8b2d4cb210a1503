import type { Context as HonoContext } from 'hono'
import { parse as parseCookies } from 'hono/utils/cookie'
import * as z from 'zod'
import { readBody } from './body.ts'
import { checked } from './checked.ts'
import { type Detail, type ErrorCode, Failure } from './errors.ts'
import type { AnyFunction } from './function.ts'

/** What a function's handler takes of a request, each part parsed by its schema. Throws the Failure of the first that is wrong. */
export async function readInput(
  { params, query, cookies, body, refusal }: NonNullable<AnyFunction['request']>,
  c: HonoContext,
  header: (name: string) => string | undefined,
): Promise<object> {
  return {
    ...(params && { params: parse(params, c.req.param(), 'not_found') }),
    ...(query && { query: parse(query, c.req.query(), refusal) }),
    ...(cookies && { cookies: parse(cookies, parseCookies(header('cookie') ?? '')) }),
    ...(body && { body: parse(body, await readBody(c.req.raw, { optional: mayBeMissing(body) }), refusal) }),
  }
}

/** Whether a body is declared as one that need not be there. */
export function mayBeMissing(body: z.ZodType): boolean {
  return body instanceof z.ZodOptional
}

function parse(schema: z.ZodType, value: unknown, code: ErrorCode = 'invalid_request'): unknown {
  const parsed = checked(schema, value)
  if (parsed.success) return parsed.data
  throw new Failure(code, { details: details(parsed.error), cause: parsed.error })
}

function details({ issues }: z.ZodError): Detail[] {
  return issues.map(({ path, message }) => ({ field: path.join('.'), message }))
}

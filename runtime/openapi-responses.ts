import { STATUS_CODES } from 'node:http'
import * as z from 'zod'
import type { ZodOpenApiResponsesObject } from 'zod-openapi'
import { codesOf, TRANSPORT_CODES } from './error-codes.ts'
import { type ErrorCode, errorTable } from './errors.ts'
import type { AnyFunction } from './function.ts'

const Detail = z
  .object({ field: z.string(), message: z.string() })
  .meta({ id: 'Detail', description: 'One rejected field of a request.' })

const REQUEST_ID = { $ref: '#/components/headers/X-Request-Id' }
const RETRY_AFTER = { $ref: '#/components/headers/Retry-After' }
/** Where the same status has refusals that do not say it. */
const PERHAPS = { $ref: '#/components/headers/Retry-After-Perhaps' }

/** Refusals that say when to come back. */
const COME_BACK: ReadonlySet<ErrorCode> = new Set(['rate_limited', 'queue_full', 'login_rate_limited', 'login_busy'])

/** What a function answers with: its success, then its errors by status, each with the codes that it may have. */
export function responsesOf(fn: AnyFunction): ZodOpenApiResponsesObject {
  const { status = 200, response, contentType = 'application/json', headers: more = {}, example } = fn
  const statuses = typeof status === 'number' ? [status] : [...new Set(Object.values(status))]
  const headers = {
    'X-Request-Id': REQUEST_ID,
    ...Object.fromEntries(
      Object.entries(more).map(([name, description]) => [
        name,
        { description, required: true, schema: { type: 'string' as const } },
      ]),
    ),
  }
  const answers = statuses.map((each) => [
    String(each),
    {
      description: STATUS_CODES[each] ?? String(each),
      headers,
      content: { [contentType]: { schema: response, ...(example && { example: example.response }) } },
    },
  ])
  return { ...Object.fromEntries(answers), ...errors(fn) }
}

function errors(fn: AnyFunction): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set([...codesOf(fn), ...TRANSPORT_CODES])) {
    const [status] = errorTable[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [String(status), refusal(codes)]))
}

function refusal(codes: ErrorCode[]) {
  const schema = z.object({ error: z.string(), code: z.enum(codes), details: z.array(Detail).optional() })
  return {
    description: codes.map((code) => `\`${code}\`: ${errorTable[code][1].replace(/\{\w+\}/g, '…')}`).join('\n\n'),
    headers: {
      'X-Request-Id': REQUEST_ID,
      ...(codes.some((code) => COME_BACK.has(code)) && {
        'Retry-After': codes.every((code) => COME_BACK.has(code)) ? RETRY_AFTER : PERHAPS,
      }),
    },
    content: { 'application/json': { schema } },
  }
}

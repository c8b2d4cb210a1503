import { STATUS_CODES } from 'node:http'
import * as z from 'zod'
import type { ZodOpenApiResponsesObject } from 'zod-openapi'
import type { ErrorEntry, ErrorTable } from '../runtime/errors.ts'
import { type AnyFunction, codesOf, TRANSPORT_CODES } from '../runtime/function.ts'

const Detail = z
  .object({ field: z.string(), message: z.string() })
  .meta({ id: 'Detail', description: 'One rejected field of a request.' })

const REQUEST_ID = { $ref: '#/components/headers/X-Request-Id' }
const RETRY_AFTER = { $ref: '#/components/headers/Retry-After' }
/** The header where only some of the errors with that status carry it. */
const PERHAPS = { $ref: '#/components/headers/Retry-After-Perhaps' }

/** Returns the responses of a function: the success, then the errors by status with their codes. */
export function responsesOf(fn: AnyFunction, table: ErrorTable): ZodOpenApiResponsesObject {
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
  return { ...Object.fromEntries(answers), ...errors(fn, table) }
}

function errors(fn: AnyFunction, table: ErrorTable): ZodOpenApiResponsesObject {
  const byStatus = new Map<number, string[]>()
  for (const code of new Set([...codesOf(fn), ...TRANSPORT_CODES])) {
    const [status] = entryOf(table, code)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries([...byStatus].map(([status, codes]) => [String(status), refusal(codes, table)]))
}

function refusal(codes: string[], table: ErrorTable) {
  const saysWhen = (code: string) => entryOf(table, code)[2]?.retryAfter === true
  const more = Object.assign({}, ...codes.map((code) => entryOf(table, code)[2]?.more ?? {}))
  const schema = z
    .object({ error: z.string(), code: z.enum(codes), details: z.array(Detail).optional() })
    .extend(z.object(more).partial().shape)
  return {
    description: codes.map((code) => `\`${code}\`: ${entryOf(table, code)[1].replace(/\{\w+\}/g, '…')}`).join('\n\n'),
    headers: {
      'X-Request-Id': REQUEST_ID,
      ...(codes.some(saysWhen) && {
        'Retry-After': codes.every(saysWhen) ? RETRY_AFTER : PERHAPS,
      }),
    },
    content: { 'application/json': { schema } },
  }
}

function entryOf(table: ErrorTable, code: string): ErrorEntry {
  const entry = table[code]
  if (!entry) throw new TypeError(`no table has the code ${code}`)
  return entry
}

import type { Context as HonoContext } from 'hono'
import { parse as parseCookies } from 'hono/utils/cookie'
import * as z from 'zod'
import fr from 'zod/v4/locales/fr.js'
import { readUpTo } from '../platform/untrusted.ts'
import { type Detail, type ErrorTable, fail, Failure, failureIn } from './errors.ts'
import type { AnyFunction } from './function.ts'

/** Parses the parts of a request with their schemas. Throws the Failure of the first invalid part. */
export async function readInput(
  { params, query, cookies, body, refusal }: NonNullable<AnyFunction['request']>,
  c: HonoContext,
  header: (name: string) => string | undefined,
  errors: ErrorTable,
): Promise<object> {
  const parse = (schema: z.ZodType, value: unknown, code = 'invalid_request'): unknown => {
    const parsed = checked(schema, value)
    if (parsed.success) return parsed.data
    throw failureIn(errors, code, { details: details(parsed.error), cause: parsed.error })
  }
  return {
    ...(params && { params: parse(params, c.req.param(), 'not_found') }),
    ...(query && { query: parse(query, c.req.query(), refusal) }),
    ...(cookies && { cookies: parse(cookies, parseCookies(header('cookie') ?? '')) }),
    ...(body && { body: parse(body, await readBody(c.req.raw, { optional: mayBeMissing(body) }), refusal) }),
  }
}

/** Whether the declared body is optional. */
export function mayBeMissing(body: z.ZodType): boolean {
  return body instanceof z.ZodOptional
}

function details({ issues }: z.ZodError): Detail[] {
  return issues.map(({ path, message }) => ({ field: path.join('.'), message }))
}

/** The largest accepted body, in bytes. A larger body is refused before it is in memory. */
const MAX_BODY = 1024 * 1024

/**
 * Reads a JSON body of at most 1 MiB. Returns undefined for an empty body that is optional. Throws `body_too_large` or
 * `invalid_json`.
 */
export async function readBody(request: Request, { optional = false } = {}): Promise<unknown> {
  const text = await readText(request).catch((cause: unknown) => {
    // The client has disconnected or sent an invalid body, which is no fault of the service.
    throw cause instanceof Failure ? cause : fail('invalid_json', { cause })
  })
  if (optional && text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw fail('invalid_json', { cause })
  }
}

async function readText(request: Request): Promise<string> {
  const tooLarge = () => fail('body_too_large', { values: { limit: '1 Mio' } })
  const length = request.headers.get('content-length')
  if (length !== null) {
    if (Number(length) > MAX_BODY) throw tooLarge()
    return request.text()
  }
  const bytes = await readUpTo(MAX_BODY, request.body)
  if (!bytes) throw tooLarge()
  return new TextDecoder().decode(bytes)
}

/**
 * `safeParse` for untrusted input. Some zod checks throw on a value of the wrong type, such as a length check
 * on `{"length": {"toString": ""}}`.
 */
export function checked<schema extends z.ZodType>(
  schema: schema,
  value: unknown,
): { success: true; data: z.output<schema> } | { success: false; error: z.ZodError } {
  try {
    return schema.safeParse(value)
  } catch (cause) {
    const error = new z.ZodError([{ code: 'custom', path: [], message: 'Entrée invalide', input: value }])
    error.cause = cause
    return { success: false, error }
  }
}

/** JavaScript and the databases represent every number of 15 digits exactly. */
const DIGITS = /^\d{1,15}$/
const MOST = 999_999_999_999_999

/** A schema for an integer in a URL: digits only, without sign, point or exponent. Empty text is not 0. */
export function integerText({ min, max = MOST }: { min: number; max?: number }) {
  const message = `un nombre entier de ${min} à ${max}`
  return z
    .unknown()
    .refine((value) => DIGITS.test(String(value)), message)
    .pipe(z.coerce.number().refine((n) => n >= min && n <= max, message))
    .meta({
      override: ({ jsonSchema }) => void Object.assign(jsonSchema, { type: 'integer', minimum: min, maximum: max }),
    })
}

/**
 * Returns `schema`, described in the documents as the named component `known`. `schema` accepts more than `known`, and
 * the handler checks the rest. The client then has one type for the id in requests and responses.
 */
export function documentedAs<lax extends z.ZodType>(known: z.ZodType, schema: lax): lax {
  const id = known.meta()?.id
  if (id === undefined) throw new TypeError('the documented schema has no id')
  return schema.meta({
    override({ jsonSchema }) {
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key)
      jsonSchema.$ref = `#/components/schemas/${id}`
    },
  })
}

/** Switches zod's messages to French for the whole process. */
export function speakFrench(): void {
  z.config(fr())
}

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Hono, type Context as HonoContext } from 'hono'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import * as z from 'zod'
import { bearer, createAdmission } from './admission.ts'
import { writeAudit } from './audit.ts'
import { readBody } from './body.ts'
import { limitKey, readCaller } from './caller.ts'
import type { AuditNote, Caller, Services, User } from './context.ts'
import { type Detail, type ErrorCode, errorBody, Failure, type FailureOptions } from './errors.ts'
import type { AnyFunction, AuditAction } from './function.ts'
import { single } from './handshake.ts'
import { logRefusal, translate } from './translate.ts'

/**
 * What the server knows of the connection; without it (tests, function hosts) the caller is local and in clear. With
 * Node's own message at hand its headers are read there: making a `Headers` of them costs a third of a small request.
 */
export interface Bindings {
  peer?: { address: string; encrypted: boolean }
  incoming?: IncomingMessage
}

const LOCAL = { address: '127.0.0.1', encrypted: false }

/** What a request may be answered with without a word about it in its declaration. */
const IMPLIED: readonly ErrorCode[] = [
  'invalid_json',
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'body_too_large',
  'storage_failed',
  'internal',
]

/**
 * Makes the router of the functions. Each request passes: address limit, token, role, user limit, parameters and body,
 * the handler, the answer's schema. `strict` turns a code that its function does not declare into `internal`.
 */
export function createApp(
  functions: readonly AnyFunction[],
  services: Services,
  { strict = false } = {},
): Hono<{ Bindings: Bindings }> {
  const app = new Hono<{ Bindings: Bindings }>()
  for (const fn of functions) app.on(fn.method, fn.path, pipeline(fn, services, strict))
  // Apart from the functions' own router: a second handler on a path would send each request a longer way.
  const paths = new RegExpRouter<string>()
  for (const [path, methods] of methodsByPath(functions)) paths.add('ALL', path, methods.join(', '))
  app.notFound((c) => {
    const [[found]] = paths.match('ALL', c.req.path)
    if (!found) return refuse(services, c, new Failure('not_found'), randomUUID())
    return refuse(services, c, new Failure('method_not_allowed'), randomUUID(), [['allow', found[0]]])
  })
  app.onError((error, c) => refuse(services, c, translate(error), randomUUID()))
  return app
}

const Status = z.object({ status: z.string() })

type Headers = [name: string, value: string][]

function pipeline(fn: AnyFunction, services: Services, strict: boolean) {
  const bucket = `${fn.method} ${fn.path}`
  const { count, identify } = createAdmission(services)
  const { rateLimit: limit, request, errors = [] } = fn
  const declared = new Set([
    ...IMPLIED,
    ...errors,
    ...(request?.refusal ? [request.refusal] : []),
    ...(request?.params ? ['not_found' as const] : []),
    ...(limit !== false && limit?.refusal ? [limit.refusal] : []),
  ])
  const { status: success = 200 } = fn
  const RequestContext = requestContext(services)

  return async (c: HonoContext<{ Bindings: Bindings }>): Promise<Response> => {
    const id = randomUUID()
    const headers: Headers = []
    const incoming = c.env?.incoming
    const header = (name: string) => (incoming ? single(incoming.headers[name]) : c.req.header(name))
    const caller = readCaller(services.config, c.env?.peer ?? LOCAL, header)
    try {
      if (limit && limit.by === 'address') await countAddress(caller)
      const found = identify(fn.auth, bearer(header('authorization')))
      const user = found instanceof Promise ? await found : found
      if (limit && limit.by === 'user') {
        const counted = count(bucket, limit, String(user?.id ?? caller.address))
        if (counted) await counted
      }
      const input = request ? await readInput(request, c) : {}
      const result = await call(fn, input, new RequestContext(c, user, caller, headers))
      const parsed = fn.response.parse(result)
      const status = typeof success === 'number' ? success : (success[Status.parse(parsed).status] ?? 200)
      const body = JSON.stringify(parsed)
      if (fn.method !== 'GET')
        services.log.info(
          { id, method: fn.method, path: c.req.path, status, user: user?.username, address: caller.address },
          'request',
        )
      return answer(body, status, id, headers)
    } catch (error) {
      const failure = translate(error)
      if (strict && !declared.has(failure.code)) {
        services.log.error({ id, code: failure.code, function: bucket }, 'code not declared')
        return refuse(services, c, new Failure('internal', { cause: failure }), id)
      }
      return refuse(services, c, failure, id, headers)
    }
  }

  async function countAddress(caller: Caller): Promise<void> {
    if (!limit) return
    try {
      await count(bucket, limit, limitKey(caller.address))
    } catch (error) {
      if (limit.audit && error instanceof Failure) await writeAudit(services, caller, undefined, limit.audit)
      throw error
    }
  }
}

/**
 * What a handler is given. The services are inherited, and the signal is made only for who asks for it: copying them
 * into a literal with a getter costs more than all else of a small request.
 */
function requestContext(services: Services) {
  class RequestContext {
    readonly user: User | undefined
    readonly caller: Caller
    readonly audit: (action: AuditAction, note?: AuditNote) => Promise<void>
    readonly header: (name: string, value: string) => void
    readonly #c: HonoContext

    constructor(c: HonoContext, user: User | undefined, caller: Caller, headers: Headers) {
      this.#c = c
      this.user = user
      this.caller = caller
      this.audit = (action, note) => writeAudit(services, caller, user, action, note)
      this.header = (name, value) => void headers.push([name, value])
    }

    get signal(): AbortSignal {
      return this.#c.req.raw.signal
    }
  }
  Object.setPrototypeOf(RequestContext.prototype, { ...services, fail: newFailure })
  return RequestContext
}

const newFailure = (code: ErrorCode, options?: FailureOptions) => new Failure(code, options)

/** The one place where a handler's types are taken on trust: its input has just been parsed by its own schemas. */
function call(fn: AnyFunction, input: object, context: object): unknown {
  return fn.handler(input as never, context as never)
}

async function readInput(request: NonNullable<AnyFunction['request']>, c: HonoContext): Promise<object> {
  const { params, query, body, refusal } = request
  return {
    ...(params && { params: parse(params, c.req.param(), 'not_found') }),
    ...(query && { query: parse(query, c.req.query(), refusal) }),
    ...(body && { body: parse(body, await readBody(c.req.raw), refusal) }),
  }
}

function parse(schema: z.ZodType, value: unknown, code: ErrorCode = 'invalid_request'): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new Failure(code, { details: details(parsed.error), cause: parsed.error })
}

function details({ issues }: z.ZodError): Detail[] {
  return issues.map(({ path, message }) => ({ field: path.join('.'), message }))
}

function refuse({ log }: Services, c: HonoContext, failure: Failure, id: string, headers: Headers = []): Response {
  const { status, retryAfter } = failure
  logRefusal(log, { id, method: c.req.method, path: c.req.path, status }, failure)
  return answer(
    errorBody(failure),
    status,
    id,
    retryAfter === undefined ? headers : [...headers, ['retry-after', String(retryAfter)]],
  )
}

function answer(body: string, status: number, id: string, more: Headers): Response {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': id,
  }
  // A plain object takes the short way through the adapter; only a list can hold a header twice.
  return new Response(body, { status, headers: more.length === 0 ? headers : [...Object.entries(headers), ...more] })
}

function methodsByPath(functions: readonly AnyFunction[]): Map<string, string[]> {
  const paths = new Map<string, string[]>()
  for (const { method, path } of functions) paths.set(path, [...(paths.get(path) ?? []), method])
  return paths
}

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Hono, type Context as HonoContext } from 'hono'
import type { Router } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { TrieRouter } from 'hono/router/trie-router'
import * as z from 'zod'
import { bearer, createAdmission } from './admission.ts'
import { answer, type HeaderList, refuse } from './answer.ts'
import { AssetAnswer, encoded } from './asset.ts'
import { writeAudit } from './audit.ts'
import { countedAs, readCaller } from './caller.ts'
import type { Caller, Services, User } from './context.ts'
import { openTo } from './cors.ts'
import { codesOf } from './error-codes.ts'
import { type ErrorCode, Failure } from './errors.ts'
import type { AnyFunction } from './function.ts'
import { single } from './handshake.ts'
import { readInput } from './input.ts'
import { bodyOf, JsonStream, KeptJson } from './json-stream.ts'
import { createRefusalLog, type RefusalLog } from './refusal-log.ts'
import { createRepeats, type Repeats } from './repeats.ts'
import { requestContext } from './request-context.ts'
import { translate } from './translate.ts'

/**
 * What the server knows of the connection; without it (tests, function hosts) the caller is local and in clear. With
 * Node's own message at hand its headers are read there: making a `Headers` of them costs a third of a small request.
 */
export interface Bindings {
  peer?: { address: string; encrypted: boolean }
  incoming?: IncomingMessage
}

/** The functions, mounted. */
export interface App {
  fetch(request: Request, bindings?: Bindings): Response | Promise<Response>
}

/** So many entries about passed limits are in the audit log, however many addresses they come from. */
const AUDITED = { limit: 1_000, seconds: 3_600, by: 'address' } as const

const LOCAL = { address: '127.0.0.1', encrypted: false }

/**
 * Makes the router of the functions, and of those that modules add, open to the pages of the configured origins. Each request
 * passes: address limit, token, role, user limit, precondition, parameters and body, the handler, the answer's schema. `strict`
 * turns a code that its function does not declare into `internal`.
 */
export function createApp(functions: readonly AnyFunction[], services: Services, { strict = false } = {}): App {
  const refusals = createRepeats(services.clock)
  const refusalLog = createRefusalLog(services.clock)
  /** What comes to no function. */
  const nowhere = (c: HonoContext<{ Bindings: Bindings }>, failure: Failure, headers: HeaderList = []): Response => {
    const { address } = readCaller(services.config, c.env?.peer ?? LOCAL, headerOf(c))
    return refuse(services.log, c, failure, randomUUID(), refusalLog.about(failure, address), headers)
  }
  const mounted = (all: readonly AnyFunction[], app: Hono<{ Bindings: Bindings }>, paths: Router<string>): Mounted => {
    const list = all.filter(({ isOffered }) => isOffered?.(services.config) ?? true)
    for (const fn of list) app.on(fn.method, pathsOf(fn), pipeline(fn, services, { refusals, refusalLog }, strict))
    // Apart from the functions' own router: a second handler on a path would send each request a longer way.
    for (const [path, methods] of methodsByPath(list)) paths.add('ALL', path, methods.join(', '))
    app.onError((error, c) => nowhere(c, translate(error)))
    return { app, paths }
  }
  // A module's addresses lie among the panel's own (`/api/modules/:id/enable`), which no one regular expression can tell apart.
  const { app, paths } = mounted(functions, new Hono(), new RegExpRouter())
  const added = mounted(services.modules.functions, new Hono({ router: new TrieRouter() }), new TrieRouter())
  const missing = functions.find(
    ({ isMissingPage, isOffered }) => isMissingPage && (isOffered?.(services.config) ?? true),
  )
  // Not measured: it would count as the page's own address.
  const missingPage =
    missing && pipeline(missing, { ...services, metrics: undefined }, { refusals, refusalLog }, strict)
  app.notFound((c) => {
    const [[own]] = paths.match('ALL', c.req.path)
    if (!own) return added.app.fetch(c.req.raw, c.env)
    return nowhere(c, new Failure('method_not_allowed'), [['allow', own[0]]])
  })
  added.app.notFound((c) => {
    const [[found]] = added.paths.match('ALL', c.req.path)
    if (!found && missingPage && isNavigation(c)) return asMissing(missingPage(c))
    if (!found) return nowhere(c, new Failure('not_found'))
    return nowhere(c, new Failure('method_not_allowed'), [['allow', found[0]]])
  })
  return openTo(services.config.origins, app)
}

/** Whether a person's browser goes there. Under `/api` and `/ws` it is told what a program would be. */
function isNavigation({ req }: HonoContext): boolean {
  if (req.method !== 'GET' || /^\/(api|ws)(\/|$)/.test(req.path)) return false
  const mode = req.header('sec-fetch-mode')
  return (mode === undefined || mode === 'navigate') && req.header('accept')?.includes('text/html') === true
}

/** The page, as what is not there; a browser does not keep it, as something may be there tomorrow. */
async function asMissing(page: Promise<Response>): Promise<Response> {
  const { status, body, headers } = await page
  if (status !== 200) return page
  const more = new Headers(headers)
  more.delete('etag')
  more.set('cache-control', 'no-store')
  return new Response(body, { status: 404, headers: more })
}

interface Mounted {
  app: Hono<{ Bindings: Bindings }>
  /** The methods of each path, as `Allow` names them. */
  paths: Router<string>
}

const Status = z.object({ status: z.string() })

/** With Node's own message at hand its headers are read there. */
function headerOf(c: HonoContext<{ Bindings: Bindings }>): (name: string) => string | undefined {
  const incoming = c.env?.incoming
  return (name) => (incoming ? single(incoming.headers[name]) : c.req.header(name))
}

/** A refresh token is refused by its function, which alone knows of it. Every visitor’s first page asks without one. */
const REFUSED_TOKEN: ReadonlySet<ErrorCode> = new Set(['refresh_invalid', 'session_ended', 'user_missing'])

function pipeline(
  fn: AnyFunction,
  services: Services,
  { refusals, refusalLog }: { refusals: Repeats; refusalLog: RefusalLog },
  strict: boolean,
) {
  const bucket = `${fn.method} ${fn.path}`
  const { count, identify, refused } = createAdmission(services)
  const { rateLimit: limit, request } = fn
  const declared = codesOf(fn)
  const { status: success = 200 } = fn
  const RequestContext = requestContext(services)

  const handle = async (c: HonoContext<{ Bindings: Bindings }>): Promise<Response> => {
    const id = randomUUID()
    const headers: HeaderList = []
    const header = headerOf(c)
    const caller = readCaller(services.config, c.env?.peer ?? LOCAL, header)
    let user: User | undefined
    try {
      if (limit && limit.by === 'address') await countAddress(caller)
      const token = bearer(header('authorization'))
      const found =
        fn.auth === 'optional' ? anybody(id, token, caller) : identify(fn.auth, token, countedAs(caller, fn.method))
      user = found instanceof Promise ? await found : found
      if (limit && limit.by === 'user') {
        const counted = count(bucket, limit, String(user?.id ?? countedAs(caller, fn.method)))
        if (counted) await counted
      }
      const context = new RequestContext(c, user, caller, headers)
      if (fn.precondition) await fn.precondition(context as never)
      const input = request ? await readInput(request, c, header) : {}
      const result = await call(fn, input, context)
      if (result instanceof KeptJson) return answer(result.bytes, 200, id, headers)
      if (result instanceof JsonStream) {
        const body = bodyOf(result, (err) => services.log.error({ id, function: bucket, err }, 'an answer broke off'))
        return answer(body, 200, id, headers)
      }
      if (result instanceof AssetAnswer) {
        const asked = { acceptEncoding: header('accept-encoding'), ifNoneMatch: header('if-none-match') }
        const { body, status, headers: more } = await encoded(result, asked)
        return answer(body, status, id, [...headers, ...more])
      }
      const parsed = fn.response.parse(result)
      const status = typeof success === 'number' ? success : (success[Status.parse(parsed).status] ?? 200)
      const body = fn.contentType ? String(parsed) : JSON.stringify(parsed)
      if (fn.contentType) headers.push(['content-type', fn.contentType])
      // Where nobody need be signed in, and nobody is, nothing has changed: no line for it, however often it is asked for.
      if (fn.method !== 'GET' && (user || fn.auth !== 'optional'))
        services.log.info(
          { id, method: fn.method, path: c.req.path, status, user: user?.username, address: caller.address },
          'request',
        )
      return answer(body, status, id, headers)
    } catch (error) {
      const translated = translate(error)
      const failure = REFUSED_TOKEN.has(translated.code)
        ? refused(translated, countedAs(caller, fn.method))
        : translated
      const about = refusalLog.about(failure, caller.address, user)
      if (fn.refusalPage && header('accept')?.includes('text/html'))
        return refuse(services.log, c, failure, id, about, [], fn.refusalPage(failure))
      if (strict && !declared.has(failure.code)) {
        services.log.error({ id, code: failure.code, function: bucket }, 'code not declared')
        return refuse(services.log, c, new Failure('internal', { cause: failure }), id, {})
      }
      return refuse(services.log, c, failure, id, about, headers)
    }
  }

  const { metrics } = services
  if (!metrics) return handle
  return async (c: HonoContext<{ Bindings: Bindings }>): Promise<Response> => {
    const began = performance.now()
    const response = await handle(c)
    metrics.request(fn.method, fn.path, response.status, (performance.now() - began) / 1000)
    return response
  }

  /** Who cannot be identified for whatever reason counts as nobody where nobody is let in. */
  async function anybody(id: string, token: string | undefined, caller: Caller): Promise<User | undefined> {
    try {
      return await identify('optional', token, countedAs(caller, fn.method))
    } catch (error) {
      if (!(error instanceof Failure))
        services.log.error({ id, function: bucket, err: error }, 'the caller could not be identified')
      return undefined
    }
  }

  async function countAddress(caller: Caller): Promise<void> {
    if (!limit) return
    const who = countedAs(caller, fn.method)
    try {
      await count(bucket, limit, who)
    } catch (error) {
      const refused = limit.audit && error instanceof Failure && refusals.tell(`${bucket} ${who}`)
      if (limit.audit && refused && services.limiter.admit('audited refusals', bucket, AUDITED) === 0)
        await writeAudit(
          services,
          { user: undefined, address: caller.address },
          limit.audit,
          refused > 1 ? { details: { refused } } : {},
        )
      throw error
    }
  }
}

/** The one place where a handler's types are taken on trust: its input has just been parsed by its own schemas. */
function call(fn: AnyFunction, input: object, context: object): unknown {
  return fn.handler(input as never, context as never)
}

function methodsByPath(functions: readonly AnyFunction[]): Map<string, string[]> {
  const paths = new Map<string, string[]>()
  for (const fn of functions) for (const path of pathsOf(fn)) paths.set(path, [...(paths.get(path) ?? []), fn.method])
  return paths
}

function pathsOf({ path, alsoAt = [] }: AnyFunction): string[] {
  return [path, ...alsoAt]
}

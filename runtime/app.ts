/**
 * The runtime mounts declared functions and sockets and runs every request through one pipeline. It promises that
 * limits, authentication, validation, error format and logging are the same for every endpoint. It must not know any
 * area of the service: an area reaches it only as declarations and as `RuntimeServices`. An endpoint with a pipeline of
 * its own could forget its access check, or return a column that it does not declare.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type Context as HonoContext, Hono } from 'hono'
import { cors } from 'hono/cors'
import type { Router } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { TrieRouter } from 'hono/router/trie-router'
import * as z from 'zod'
import {
  bearer,
  createAccess,
  expectProof,
  expectRights,
  expectTargets,
  isUnbounded,
  targetsToCheck,
  userKey,
} from './access.ts'
import { answer, ANSWER_HEADERS, errorResponse, type HeaderList } from './answer.ts'
import { AssetAnswer, encoded } from './asset.ts'
import { readCaller, requestLimitKey } from './caller.ts'
import type { Caller, RuntimeServices, User } from './context.ts'
import { fail, Failure, translate } from './errors.ts'
import { type AnyFunction, codesOf } from './function.ts'
import { joinedHeader } from './handshake.ts'
import { readInput } from './input.ts'
import { bodyOf, CachedJson, JsonStream } from './json-stream.ts'
import { createLogSampler, type LogSampler } from './log-sampler.ts'
import { isNavigation, withStatus404 } from './not-found-page.ts'
import { apart, methodsByPath, pathsOf } from './paths.ts'
import { createRefusals, type Refusals } from './refusals.ts'
import { requestContext } from './request-context.ts'

/**
 * Connection data. A caller without `peer`, as in tests, counts as local and unencrypted. The pipeline prefers the
 * headers of `incoming`, Node's own request: building a `Headers` object takes a third of a small request's time.
 */
export interface Bindings {
  peer?: { address: string; encrypted: boolean }
  incoming?: IncomingMessage
}

/** The mounted functions. */
export interface App {
  fetch(request: Request, bindings?: Bindings): Response | Promise<Response>
}

const LOCAL = { address: '127.0.0.1', encrypted: false }

interface AppOptions {
  /** Functions of modules, mounted behind the service's own. */
  added?: readonly AnyFunction[]
  /** Whether an error code that the function does not declare is answered as `internal`. */
  strict?: boolean
}

/**
 * Mounts the functions. Pages of the configured origins may call them. Each request passes these steps in order:
 * address limit, token, role, user limit, age of the proof, precondition, parameters and body, targets, handler, response
 * schema.
 *
 * There are two Hono apps, the service's own and one for modules and for addresses of the service that clash, each with a second
 * router for the methods of each path. The own app comes first. When no function of it matches, the second routers are
 * asked: a known path without this method is answered with 405 and `Allow`, every other one goes to the second app.
 */
export function createApp(
  functions: readonly AnyFunction[],
  services: RuntimeServices,
  { added: more = [], strict = false }: AppOptions = {},
): App {
  const refusals = createRefusals(services)
  const logSampler = createLogSampler(services.clock)
  /** Refuses a request that matches no function. */
  const refuseUnmatched = (
    c: HonoContext<{ Bindings: Bindings }>,
    failure: Failure,
    headers: HeaderList = [],
  ): Response => {
    const { address } = readCaller(services.config, c.env?.peer ?? LOCAL, headerOf(c))
    return errorResponse(services.log, c, failure, randomUUID(), logSampler.fieldsFor(failure, address), headers)
  }
  const isMounted = ({ isEnabled }: AnyFunction) => isEnabled?.(services.config) ?? true
  const mounted = (all: readonly AnyFunction[], app: Hono<{ Bindings: Bindings }>, paths: Router<string>): Mounted => {
    const list = all.filter(isMounted)
    for (const fn of list) app.on(fn.method, pathsOf(fn), pipeline(fn, services, { refusals, logSampler }, strict))
    // The methods are no handlers of the app: a second handler on a path would slow down each request.
    for (const [path, methods] of methodsByPath(list)) paths.add('ALL', path, methods.join(', '))
    app.onError((error, c) => refuseUnmatched(c, translate(error)))
    return { app, paths }
  }
  // The module `backup` may have the path `/api/modules/backup/enable`, which `/api/modules/:id/enable` matches too.
  // RegExpRouter, the faster one, refuses such pairs in one app. Modules therefore have an app of their own, with TrieRouter;
  // it begins with those functions of the service that would be such a pair.
  const { plain, clashing } = apart(functions)
  const { app, paths } = mounted(plain, new Hono(), new RegExpRouter())
  const added = mounted([...clashing, ...more], new Hono({ router: new TrieRouter() }), new TrieRouter())
  const pageFunction = functions.find((fn) => fn.isNotFoundPage && isMounted(fn))
  // Without metrics: they would count the request under the page's address.
  const notFoundPage =
    pageFunction && pipeline(pageFunction, { ...services, metrics: undefined }, { refusals, logSampler }, strict)
  app.notFound((c) => {
    const [[own]] = paths.match('ALL', c.req.path)
    const [[other]] = own ? [[own]] : added.paths.match('ALL', c.req.path)
    // `PATCH /api/schedules/preview` is no request to `/api/schedules/:id`.
    const isTaken = !own && (!other || takes(other[0], c.req.method))
    if (isTaken) return added.app.fetch(c.req.raw, c.env)
    return refuseUnmatched(c, fail('method_not_allowed'), [['allow', other?.[0] ?? '']])
  })
  added.app.notFound((c) =>
    notFoundPage && isNavigation(c) ? withStatus404(notFoundPage(c)) : refuseUnmatched(c, fail('not_found')),
  )
  return withCors(services.config.origins, app)
}

/** Whether a function with one of these methods answers a request with this one. */
function takes(methods: string, method: string): boolean {
  return methods.split(', ').includes(method === 'HEAD' ? 'GET' : method)
}

interface Mounted {
  app: Hono<{ Bindings: Bindings }>
  /** The methods of each path, in the form of the `Allow` header. */
  paths: Router<string>
}

const Status = z.object({ status: z.string() })

/** Reads headers from Node's own message when there is one (see `Bindings`). */
function headerOf(c: HonoContext<{ Bindings: Bindings }>): (name: string) => string | undefined {
  const incoming = c.env?.incoming
  return (name) => (incoming ? joinedHeader(incoming.headers[name]) : c.req.header(name))
}

function pipeline(
  fn: AnyFunction,
  services: RuntimeServices,
  { refusals, logSampler }: { refusals: Refusals; logSampler: LogSampler },
  strict: boolean,
) {
  const bucket = `${fn.method} ${fn.path}`
  const { countRequest, authenticate, countBadToken } = createAccess(services)
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
    let targets: readonly string[] | undefined
    let context: InstanceType<typeof RequestContext> | undefined
    try {
      if (limit && limit.by === 'address') await countAddress(caller)
      const token = bearer(header('authorization'))
      const found =
        fn.auth === 'optional'
          ? identifyOptional(id, token, caller)
          : authenticate(fn, token, requestLimitKey(caller, fn.method))
      user = found instanceof Promise ? await found : found
      if (user?.credential === 'token') services.sessions.noteUse(user, caller.address)
      if (user) expectRights(fn, user)
      if (limit && limit.by === 'user') {
        const counted = countRequest(bucket, limit, user ? userKey(user) : requestLimitKey(caller, fn.method))
        if (counted) await counted
      }
      expectProof(fn, user, services.clock)
      context = new RequestContext(c, user, caller, headers)
      if (fn.precondition) await fn.precondition(context as never)
      const input = request ? await readInput(request, c, header, services.errors) : {}
      if (user && !isUnbounded(user)) {
        targets = await targetsToCheck(fn, user, input, services)
        expectTargets(fn, user, targets)
      }
      const result = await call(fn, input, context)
      if (result instanceof CachedJson) return answer(result.bytes, 200, id, headers)
      if (result instanceof JsonStream) {
        const body = bodyOf(result, (err) => services.log.error({ id, function: bucket, err }, 'an answer broke off'))
        return answer(body, typeof success === 'number' ? success : 200, id, headers)
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
      // A function with `auth: 'optional'` changes nothing for a caller without a user, so it gets no log line.
      if (fn.method !== 'GET' && (user || fn.auth !== 'optional'))
        services.log.info(
          { id, method: fn.method, path: c.req.path, status, user: user?.username, address: caller.address },
          'request',
        )
      return answer(body, status, id, headers)
    } catch (error) {
      const translated = translate(error)
      const failure = translated.badToken ? countBadToken(translated, requestLimitKey(caller, fn.method)) : translated
      const logFields = logSampler.fieldsFor(failure, caller.address, user)
      if (user && failure.status === 403 && !failure.more && !context?.hasToldRefusal)
        await refusals.noteForbidden(bucket, user, caller.address, { failure, targets })
      if (fn.refusalPage && header('accept')?.includes('text/html'))
        return errorResponse(services.log, c, failure, id, logFields, [], fn.refusalPage(failure))
      if (strict && !declared.has(failure.code)) {
        services.log.error({ id, code: failure.code, function: bucket }, 'code not declared')
        return errorResponse(services.log, c, fail('internal', { cause: failure }), id, {})
      }
      return errorResponse(services.log, c, failure, id, logFields, headers)
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

  /**
   * Identifies the caller of a function with `auth: 'optional'`. A caller who cannot be identified counts as anonymous;
   * unexpected errors are logged.
   */
  async function identifyOptional(id: string, token: string | undefined, caller: Caller): Promise<User | undefined> {
    try {
      return await authenticate(fn, token, requestLimitKey(caller, fn.method))
    } catch (error) {
      if (!(error instanceof Failure))
        services.log.error({ id, function: bucket, err: error }, 'the caller could not be identified')
      return undefined
    }
  }

  async function countAddress(caller: Caller): Promise<void> {
    if (!limit) return
    const key = requestLimitKey(caller, fn.method)
    try {
      await countRequest(bucket, limit, key)
    } catch (error) {
      if (limit.audit && error instanceof Failure) await refusals.noteLimit(bucket, key, caller.address, limit.audit)
      throw error
    }
  }
}

/** Calls the handler. The casts are safe because the function's own schemas have just parsed the input. */
function call(fn: AnyFunction, input: object, context: object): unknown {
  return fn.handler(input as never, context as never)
}

/** How long a browser may cache a preflight response: Chromium's maximum. */
const PREFLIGHT_SECONDS = 7_200

/** Adds CORS for these origins. All other requests go straight to the app. */
export function withCors(origins: ReadonlySet<string>, app: App): App {
  if (origins.size === 0) return app
  const open = new Hono<{ Bindings: Bindings }>()
  open.use(async (c, next) => {
    await next()
    if (c.req.method !== 'OPTIONS') return
    const { 'content-type': _, ...headers } = ANSWER_HEADERS
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
    c.header('x-request-id', randomUUID())
  })
  open.use(
    cors({
      origin: (origin) => origin,
      credentials: true,
      allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowHeaders: ['Authorization', 'Content-Type'],
      exposeHeaders: ['X-Request-Id', 'Retry-After', 'Allow'],
      maxAge: PREFLIGHT_SECONDS,
    }),
  )
  open.all('*', ({ req, env }) => app.fetch(req.raw, env))
  return {
    fetch(request, bindings) {
      const origin = bindings?.incoming ? bindings.incoming.headers.origin : request.headers.get('origin')
      return origin && origins.has(origin) ? open.fetch(request, bindings) : app.fetch(request, bindings)
    },
  }
}

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Hono } from 'hono'
import { handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import * as z from 'zod'
import type { Clock } from '../platform/clock.ts'
import { ConfigError, unknownVariables } from '../platform/config.ts'
import { createLog } from '../platform/log.ts'
import { answer } from '../runtime/answer.ts'
import type { Bindings } from '../runtime/app.ts'
import { errorBody, fail, logRefusal, translate } from '../runtime/errors.ts'
import { speakFrench } from '../runtime/input.ts'
import type { Manifest } from './assembly.ts'
import {
  type FunctionInstance,
  readRemoteConfig,
  type RemoteConfig,
  startFunctionInstance,
} from './function-instance.ts'

/** The service where a host of functions runs it, only while there is something to answer. */
export interface FunctionHost {
  fetch(request: Request, connection?: Connection): Promise<Response>
  /** What a server does by itself, once: to be called each minute. Rejects when the service cannot start. */
  scheduled(): Promise<void>
  /** Lets go of everything, for tests: a host of functions ends instances without a word. */
  stop(): Promise<void>
}

/** What a host says of how a request has come, and how its answer leaves. */
export interface Connection {
  /** Who has sent it: without this 127.0.0.1, encrypted if the request's address says so. */
  peer?: Bindings['peer']
  /** Longer answers are not passed on, counted as text in JSON. */
  mostBytes?: number
}

/** A minute's work is done in a second; what takes longer goes on with the next call. */
const SCHEDULED_MS = 25_000

/** Nothing is opened before the first request asks for it; what could not be opened is tried again by a later one. */
export function createFunctionHost(
  manifest: Manifest,
  environment: Record<string, string | undefined>,
  clock: Clock,
): FunctionHost {
  speakFrench()
  const write = (line: string) => void process.stdout.write(line)
  const config = configOf(environment)
  const level = config instanceof ConfigError ? 'info' : config.logLevel
  const sink = createLog({ level, pretty: false, write })
  const { log } = sink
  const socketPaths = new RegExpRouter<true>()
  for (const { path } of manifest.sockets) socketPaths.add('GET', path, true)

  const start = async (): Promise<FunctionInstance> => {
    if (config instanceof ConfigError) throw config
    // What is for the console alone: the lines of the other one can be read in the panel.
    const announce = createLog({ level: level === 'silent' ? level : 'warn', pretty: false, write }).log
    for (const name of unknownVariables(environment)) log.warn({ name }, 'unknown variable, ignored')
    return startFunctionInstance(config, { ...sink, announce }, manifest, clock)
  }
  let starting: Promise<FunctionInstance> | undefined
  const instance = (): Promise<FunctionInstance> => {
    starting ??= start().catch((error: unknown) => {
      starting = undefined
      throw error
    })
    return starting
  }

  const refuse = (request: Request, error: unknown): Response => {
    const failure = error instanceof ConfigError ? fail('not_configured', { cause: error }) : translate(error)
    const id = randomUUID()
    const { pathname } = new URL(request.url)
    logRefusal(log, { id, method: request.method, path: pathname, status: failure.status }, failure)
    return answer(errorBody(failure), failure.status, id, [])
  }

  const wantsSocket = ({ method, url, headers }: Request) =>
    headers.get('upgrade')?.toLowerCase() === 'websocket' ||
    (method === 'GET' && socketPaths.match('GET', new URL(url).pathname)[0].length > 0)

  return {
    async fetch(request, { peer = unseen(request), mostBytes } = {}) {
      if (wantsSocket(request)) return refuse(request, fail('sockets_missing'))
      try {
        const { during } = await instance()
        return await during(async (app) => {
          const response = await app.fetch(request, { peer })
          return mostBytes === undefined ? response : await whole(response, mostBytes)
        })
      } catch (error) {
        return refuse(request, error)
      }
    },
    async scheduled() {
      const work = instance().then(({ housekeeping }) => housekeeping())
      await Promise.race([work, pause(SCHEDULED_MS, undefined, { ref: false })])
    },
    async stop() {
      await starting?.then(({ stop }) => stop())
    },
  }
}

/** Told with each request, rather than once by a process that does not start. */
function configOf(environment: Record<string, string | undefined>): RemoteConfig | ConfigError {
  try {
    return readRemoteConfig(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

function unseen({ url }: Request): NonNullable<Bindings['peer']> {
  return { address: '127.0.0.1', encrypted: url.startsWith('https:') }
}

/** The answer in one piece; throws a Failure when it is too long, which the host would tell of in words of its own. */
async function whole(response: Response, mostBytes: number): Promise<Response> {
  const body = Buffer.from(await response.arrayBuffer())
  // What is compressed goes as base64.
  const text = response.headers.has('content-encoding') ? body.toString('base64') : body.toString()
  if (Buffer.byteLength(JSON.stringify(text)) > mostBytes)
    throw fail('answer_too_large', { values: { limit: `${mostBytes / 1_000_000} Mo` } })
  return new Response(body.length > 0 ? body : null, response)
}

/** The event that EventBridge sends by a rule or a schedule. */
export interface ScheduledEvent {
  source: string
  'detail-type': string
}

/** The client of API Gateway or of a function's address; a load balancer names it in a header only. */
const RequestContext = z.object({
  http: z.object({ sourceIp: z.string() }).optional(),
  identity: z.object({ sourceIp: z.string() }).optional(),
  elb: z.unknown().optional(),
})

/** What Lambda gives back of 6 MiB, and a load balancer of 1 MiB: headers come on top. */
const [MOST_BYTES, BALANCER_BYTES] = [6_000_000, 1_000_000]

/** The handler of AWS Lambda: API Gateway, addresses of functions, load balancers and schedules. */
export function createLambdaHandler({ fetch, scheduled }: Pick<FunctionHost, 'fetch' | 'scheduled'>) {
  const app = new Hono<{ Bindings: { requestContext?: unknown } }>()
  app.all('*', ({ req, env }) => fetch(req.raw, connectionOf(env.requestContext)))
  const answer = handle(app)
  return async (event: LambdaEvent | ScheduledEvent, context?: LambdaContext) =>
    'requestContext' in event ? answer(event, context) : void (await scheduled())
}

function connectionOf(requestContext: unknown): Connection {
  const { data: { http, identity, elb } = {} } = RequestContext.safeParse(requestContext)
  const address = (http ?? identity)?.sourceIp ?? '127.0.0.1'
  // The scheme is told by `X-Forwarded-Proto`.
  return { peer: { address, encrypted: false }, mostBytes: elb === undefined ? MOST_BYTES : BALANCER_BYTES }
}

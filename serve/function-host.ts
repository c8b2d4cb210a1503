/*
 * Adapts the service to function hosts (`fetch`, AWS Lambda). A missing variable or an answer that is too long gives an
 * error in the service's own format.
 */

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

/** The service on a function host, which runs it only while a request is in progress. */
export interface FunctionHost {
  fetch(request: Request, connection?: Connection): Promise<Response>
  /** Runs the tasks of a server once; to be called each minute. Rejects when the service cannot start. */
  scheduled(): Promise<void>
  /** Releases everything, for tests: a function host ends instances without notice. */
  stop(): Promise<void>
}

/** The facts that the function host knows about the connection of a request. */
export interface Connection {
  /** The sender; by default 127.0.0.1, encrypted if the request's URL is https. */
  peer?: Bindings['peer']
  /** The longest answer that the host passes on, counted as text in JSON. */
  mostBytes?: number
}

/** A minute's work takes a second; longer work continues with the next call. */
const SCHEDULED_MS = 25_000

/** Opens nothing before the first request. A later request retries an opening that failed. */
export function createFunctionHost(
  manifest: Manifest,
  environment: Record<string, string | undefined>,
  clock: Clock,
): FunctionHost {
  speakFrench()
  const write = (line: string) => void process.stdout.write(line)
  const config = configOf(environment)
  const level = config instanceof ConfigError ? 'info' : config.logLevel
  const sink = createLog({ level, write })
  const { log } = sink
  const socketPaths = new RegExpRouter<true>()
  for (const { path } of manifest.sockets) socketPaths.add('GET', path, true)

  const start = async (): Promise<FunctionInstance> => {
    if (config instanceof ConfigError) throw config
    // A log for the console only: administrators can read the lines of `log` in the panel.
    const announce = createLog({ level: level === 'silent' ? level : 'warn', write }).log
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

/** Returns the error instead of throwing it: each request is answered with it, and the process goes on. */
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

/**
 * Returns the answer in one piece. Throws a Failure when it is too long: the host would send an error of its own
 * format.
 */
async function whole(response: Response, mostBytes: number): Promise<Response> {
  const body = Buffer.from(await response.arrayBuffer())
  // Lambda encodes compressed bodies as base64.
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

/** The client of API Gateway or of a function URL; a load balancer names it in a header only. */
const RequestContext = z.object({
  http: z.object({ sourceIp: z.string() }).optional(),
  identity: z.object({ sourceIp: z.string() }).optional(),
  elb: z.unknown().optional(),
})

/** The limits for a body: Lambda passes on 6 MiB and a load balancer 1 MiB, headers included. */
const [MOST_BYTES, BALANCER_BYTES] = [6_000_000, 1_000_000]

/** Creates the handler for AWS Lambda: API Gateway, function URLs, load balancers and schedules. */
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
  // `X-Forwarded-Proto` carries the scheme.
  return { peer: { address, encrypted: false }, mostBytes: elb === undefined ? MOST_BYTES : BALANCER_BYTES }
}

import { Hono } from 'hono'
import { handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda'
import * as z from 'zod'
import type { Connection, FunctionHost } from './function-host.ts'

/** What EventBridge sends by a rule or a schedule. */
export interface ScheduledEvent {
  source: string
  'detail-type': string
}

/** Who is connected to API Gateway or a function's address; a load balancer only says so in a header. */
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

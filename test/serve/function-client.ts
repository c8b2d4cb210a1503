import type { LambdaEvent } from 'hono/aws-lambda'
import * as z from 'zod'

/** A request, for any kind of host. */
export interface Asked {
  method: string
  path: string
  headers: Record<string, string>
  cookie: string | undefined
  body: string | undefined
}

export interface Answered {
  status: number
  body: string
  headers: Record<string, string>
  cookies: string[]
}

/** Sends one request to an instance. */
export type Send = (asked: Asked) => Promise<Answered>

/** The calls that drive an instance: its `fetch`, or its handler with events. */
export interface Entry {
  fetch(request: Request): Promise<Response>
  handler(event: LambdaEvent): Promise<unknown>
}

const Result = z.object({
  statusCode: z.number(),
  body: z.string(),
  isBase64Encoded: z.literal(false),
  cookies: z.array(z.string()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  multiValueHeaders: z.record(z.string(), z.array(z.string())).optional(),
})

/** The kinds of function host; `from` is the client's address where the host provides it. */
export const ways = {
  fetch:
    ({ fetch }: Entry): Send =>
    async ({ method, path, headers, cookie, body }) => {
      const all = { ...headers, ...(cookie !== undefined && { cookie }) }
      const request = new Request(`https://panel.test${path}`, { method, headers: all, ...(body && { body }) })
      const response = await fetch(request)
      return {
        status: response.status,
        body: await response.text(),
        headers: Object.fromEntries(response.headers),
        cookies: response.headers.getSetCookie(),
      }
    },
  gateway:
    ({ handler }: Entry, from = '192.0.2.1'): Send =>
    async (asked) => {
      const result = Result.parse(await handler(gatewayEvent(asked, from)))
      const { statusCode: status, body, headers = {}, cookies = [] } = result
      return { status, body, headers, cookies }
    },
  balancer:
    ({ handler }: Entry): Send =>
    async (asked) => {
      const result = Result.parse(await handler(balancerEvent(asked)))
      const { statusCode: status, body, headers = {} } = result
      const cookie = headers['set-cookie']
      return { status, body, headers, cookies: cookie === undefined ? [] : [cookie] }
    },
  'balancer with many values':
    ({ handler }: Entry): Send =>
    async (asked) => {
      const { headers: single = {}, ...event } = balancerEvent(asked)
      const many = Object.fromEntries(
        Object.entries(single).map(([name, value]) => [name, value === undefined ? [] : [value]]),
      )
      const result = Result.parse(await handler({ ...event, multiValueHeaders: many }))
      const { statusCode: status, body, multiValueHeaders = {} } = result
      const headers = Object.fromEntries(
        Object.entries(multiValueHeaders).map(([name, values]) => [name, values.join()]),
      )
      return { status, body, headers, cookies: multiValueHeaders['set-cookie'] ?? [] }
    },
}

/** The event of API Gateway (payload format 2.0) and of function URLs, with the body in base64. */
export function gatewayEvent({ method, path, headers, cookie, body }: Asked, from: string) {
  const [rawPath = '', rawQueryString = ''] = path.split('?')
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookie !== undefined && { cookies: [cookie] }),
    headers: { host: 'panel.test', 'x-forwarded-for': from, 'x-forwarded-proto': 'https', ...headers },
    requestContext: {
      accountId: '123456789012',
      apiId: 'api',
      authentication: null,
      authorizer: {},
      domainName: 'panel.test',
      domainPrefix: 'panel',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: from, userAgent: 'test' },
      requestId: 'id',
      routeKey: '$default',
      stage: '$default',
      time: '12/Mar/2026:19:03:58 +0000',
      timeEpoch: 1_773_342_238_000,
    },
    body: body === undefined ? null : Buffer.from(body).toString('base64'),
    isBase64Encoded: body !== undefined,
  }
}

/** The event of an application load balancer. */
function balancerEvent({ method, path, headers, cookie, body }: Asked) {
  const [bare = '', query = ''] = path.split('?')
  const all: Record<string, string | undefined> = {
    host: 'panel.test',
    'x-forwarded-for': '192.0.2.1',
    'x-forwarded-proto': 'https',
    ...headers,
    ...(cookie !== undefined && { cookie }),
  }
  return {
    httpMethod: method,
    path: bare,
    queryStringParameters: Object.fromEntries(new URLSearchParams(query)),
    headers: all,
    body: body ?? '',
    isBase64Encoded: false,
    requestContext: { elb: { targetGroupArn: 'arn:aws:elasticloadbalancing:targetgroup/panel/1' } },
  }
}

const Token = z.object({ access_token: z.string() })
const Started = z.object({ job_id: z.string() })
const Plan = z.object({ id: z.string() })
const Piece = z.object({ chunk: z.string(), next_offset: z.number(), ended: z.boolean() })

/**
 * A client like a browser: it keeps the cookie and the token, and sends requests to the instance that `next` returns.
 */
export function functionClient(next: () => Promise<Send>) {
  let cookie: string | undefined
  let token: string | undefined
  const ask = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const send = await next()
    const text = body === undefined ? undefined : JSON.stringify(body)
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answered = await send({ method, path, headers: { ...authorization, ...headers }, cookie, body: text })
    for (const each of answered.cookies) cookie = each.split(';')[0]
    return { ...answered, json: (): unknown => JSON.parse(answered.body) }
  }
  const signIn = async (username = 'demo', password = 'demo', headers: Record<string, string> = {}) => {
    const answered = await ask('POST', '/api/auth/login', { username, password }, headers)
    if (answered.status === 200) token = Token.parse(answered.json()).access_token
    return answered
  }
  return {
    ask,
    signIn,
    async refresh() {
      token = undefined
      const answered = await ask('POST', '/api/auth/refresh')
      token = Token.parse(answered.json()).access_token
      return answered
    },
    start: async (target: string, plan?: string) =>
      Started.parse((await ask('POST', '/api/updates/run', { target, plan })).json()).job_id,
    plan: async (target: string) => Plan.parse((await ask('POST', '/api/updates/plans', { target })).json()).id,
    /** Polls the output from its position; `text` is all of it, `ended` means that it is complete. */
    poller(id: string) {
      let [text, offset, ended] = ['', 0, false]
      return {
        text: () => text,
        ended: () => ended,
        async poll() {
          const answered = await ask('GET', `/api/updates/jobs/${id}/output?offset=${offset}`)
          const piece = Piece.parse(answered.json())
          text += piece.chunk
          offset = piece.next_offset
          ended = piece.ended
        },
      }
    },
  }
}

/*
 * The declaration of an endpoint: its types force each one to state access, limit and errors. The documents and the
 * client's types are made from it, so they cannot differ from the service.
 */

import * as z from 'zod'
import type { Config } from '../platform/config.ts'
import type { AssetAnswer } from './asset.ts'
import type { Context, User } from './context.ts'
import type { Failure } from './errors.ts'
import type { CachedJson, JsonStream } from './json-stream.ts'
import type { RateLimit } from './rate-limit.ts'

/**
 * The permitted callers of a function. `none`: anyone. `optional`: anyone, and the handler gets the user of a valid
 * token. `user`: whoever is signed in. `operator`: who may work on targets. `admin`: administrators.
 */
export type Auth = 'none' | 'optional' | 'user' | 'operator' | 'admin'

/**
 * The targets that an endpoint concerns, for callers who may read or work on some of them only. `none`: it concerns no
 * target, so each caller may use it. `own`: the handler leaves out what the caller may not see (see `mayRead`).
 * A function returns the ids of all targets of the request, or undefined when it finds none: then such callers are
 * refused. Without a declaration it concerns all targets, so such callers are refused.
 */
export type DeclaredTargets<input, services> =
  | 'none'
  | 'own'
  | ((input: input, services: services) => Named | Promise<Named>)
type Named = readonly string[] | undefined

/** The user that a handler gets under each `auth`. */
export type UserOf<auth> = auth extends 'none' ? undefined : auth extends 'optional' ? User | undefined : User

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A declared limit. `refusal` replaces `rate_limited` as the error code; `audit` is the audit action of a refusal. */
export interface DeclaredLimit<codes extends string = string, actions extends string = string> extends RateLimit {
  refusal?: codes
  audit?: actions
}

/** Generous limits for signed-in users: of functions that only read, and of functions that change something. */
export const READS: DeclaredLimit<never, never> = { limit: 1200, seconds: 60, by: 'user' }
export const WRITES: DeclaredLimit<never, never> = { limit: 300, seconds: 60, by: 'user' }

type ParamName<path extends string> = path extends `${string}:${infer name}/${infer rest}`
  ? name | ParamName<`/${rest}`>
  : path extends `${string}:${infer name}`
    ? name
    : never

/**
 * The schemas of a request's parts. `refusal` replaces `invalid_request` as the error code for a query or body that its
 * schema rejects. The schema of cookies must accept any text, because handlers validate cookies themselves.
 */
type RequestParts<method, codes> = {
  query?: z.ZodObject
  cookies?: z.ZodObject
  refusal?: codes
} & (method extends 'GET' ? { body?: never } : { body?: z.ZodType })

export type Request<method, path extends string, codes = string> = RequestParts<method, codes> &
  ([ParamName<path>] extends [never] ? { params?: never } : { params: z.ZodObject<Record<ParamName<path>, z.ZodType>> })

type Part = 'params' | 'query' | 'cookies' | 'body'

export type Input<request> = {
  [part in Part & keyof request as request[part] extends z.ZodType ? part : never]: z.output<
    Extract<request[part], z.ZodType>
  >
}

/** An access token for examples. */
export const EXAMPLE_TOKEN = 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ik56YkxzWGg4In0.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'

/** A valid request with its response. Path parameters take their examples from their own schemas. */
export type Example<request, response extends z.ZodType> = {
  [part in ('query' | 'body') & keyof request as request[part] extends z.ZodType ? part : never]?: NoInfer<
    z.input<Extract<request[part], z.ZodType>>
  >
} & { response: NoInfer<z.output<response>> }

export type RequestField<path extends string, request> = [ParamName<path>] extends [never]
  ? { request?: request }
  : { request: request }

/** A method that changes state lists the audit actions it may write, or says `false`. A GET may list some. */
type Audit<method, action> = method extends 'GET' ? { audit?: readonly action[] } : { audit: readonly action[] | false }

export type FunctionDefinition<
  services,
  codes extends string,
  actions extends string,
  method extends Method,
  path extends string,
  auth extends Auth,
  action extends string,
  request,
  response extends z.ZodType,
  code extends string,
> = Audit<method, action> &
  RequestField<path, request> & {
    method: method
    path: path
    /** Additional paths of the same function. */
    alsoAt?: readonly string[]
    /** Whether the function is mounted with this configuration; by default it always is. */
    isEnabled?(config: Config): boolean
    /** The function's group in the documents, where its path does not give it. */
    area?: string
    /** `false` for a function that only browsers use: the documents and the client leave it out. */
    document?: false
    /** A short name for the documents. */
    summary: string
    /** Describes what the function does and what its schemas do not show, in sentences. */
    description: string
    auth: auth
    /** `session`: API tokens are refused. Both kinds of credential may use an endpoint that does not say it. */
    credential?: 'session'
    /** Whether the caller's last proof of who it is must be at most 15 minutes old. API tokens are refused. */
    stepUp?: true
    /** Whether a caller who must first enrol a second factor may use it. */
    whileEnrolling?: true
    targets?: DeclaredTargets<Input<request>, services>
    /** A limit, or an explicit `false`. */
    rateLimit: DeclaredLimit<codes, actions> | false
    /** Runs before the request is parsed. A thrown error is the response. */
    precondition?(context: Context<services, UserOf<auth>, code, action>): Promise<void>
    /** The HTTP status, 200 by default; or a map from the response's own `status` field to the HTTP status. */
    status?: StatusOf<response>
    response: response
    /** Additional response headers, each with its meaning. */
    headers?: Readonly<Record<string, string>>
    example?: Example<request, response>
    /** The content type of a response that is text and not JSON. */
    contentType?: z.output<response> extends string ? string : never
    /** The HTML page for a refused request whose client asks for HTML. */
    refusalPage?(failure: Failure): string
    /** Whether browsers get this page with status 404 for an unknown address. */
    isNotFoundPage?: boolean
    /** Error codes of the handler, beyond those that follow from `request`, `auth` and `rateLimit`. */
    errors?: readonly code[]
    handler(
      input: Input<request>,
      context: Context<services, UserOf<auth>, code, action>,
    ): Promise<NoInfer<z.input<response>> | JsonStream | CachedJson> | NoInfer<z.input<response>> | AssetAnswer
  }

/** A request without declared parts. */
export type Nothing = { params?: never; query?: never; cookies?: never; body?: never }

type Status = 200 | 201 | 202 | 308 | Readonly<Record<string, 200 | 503>>

type StatusOf<response extends z.ZodType> =
  | 200
  | 201
  | 202
  | 308
  | (z.output<response> extends { status: infer word extends string } ? Readonly<Record<word, 200 | 503>> : never)

/** A definition whose type parameters the runtime no longer needs. */
export interface AnyFunction {
  method: Method
  path: string
  alsoAt?: readonly string[]
  isEnabled?(config: Config): boolean
  area?: string
  document?: false
  summary?: string
  description?: string
  auth: Auth
  credential?: 'session'
  stepUp?: true
  whileEnrolling?: true
  targets?: DeclaredTargets<never, never>
  rateLimit: DeclaredLimit | false
  audit?: readonly string[] | false
  request?: { params?: z.ZodObject; query?: z.ZodObject; cookies?: z.ZodObject; body?: z.ZodType; refusal?: string }
  precondition?(context: never): Promise<void>
  status?: Status
  response: z.ZodType
  headers?: Readonly<Record<string, string>>
  example?: { query?: object; body?: unknown; response: unknown }
  contentType?: string
  refusalPage?(failure: Failure): string
  isNotFoundPage?: boolean
  errors?: readonly string[]
  handler(input: never, context: never): unknown
}

/**
 * Returns the function that declares endpoints of a service. `services` is the type that handlers receive; `codes` and
 * `actions` are all its error codes and audit actions. A declaration is plain data: nothing runs until `createApp`
 * mounts it.
 */
export function functionDeclarations<services, codes extends string, actions extends string>() {
  return <
    const method extends Method,
    const path extends `/api/${string}` | `/.well-known/${string}` | `/panel/${string}` | '/metrics' | '/',
    const auth extends Auth,
    response extends z.ZodType,
    const action extends actions = never,
    const code extends codes = never,
    request extends Request<method, path, codes> = Request<method, path, codes> & Nothing,
  >(
    definition: FunctionDefinition<services, codes, actions, method, path, auth, action, request, response, code>,
  ): AnyFunction => definition
}

type Declared = Demand & Pick<AnyFunction, 'rateLimit' | 'request' | 'errors'>
type Demand = Pick<AnyFunction, 'auth' | 'credential' | 'stepUp' | 'whileEnrolling' | 'targets'>

/** Codes of refusals that follow from what a declaration asks of its callers. */
function refusalsOf({ auth, credential, stepUp, whileEnrolling, targets }: Demand): string[] {
  if (auth === 'none') return []
  const isFree = auth === 'optional'
  return [
    ...(isFree ? [] : ['unauthenticated', 'rate_limited']),
    ...(!isFree && (auth !== 'user' || stepUp || credential) ? ['forbidden'] : []),
    ...(whileEnrolling ? [] : ['enrolment_required']),
    ...(targets === 'none' || targets === 'own' ? [] : ['target_forbidden']),
    ...(stepUp ? ['step_up_required'] : []),
  ]
}

/**
 * The error codes that callers of a function can receive: the declared ones and those that follow from its declaration.
 */
export function codesOf(declared: Declared): ReadonlySet<string> {
  const { rateLimit, request = {}, errors = [] } = declared
  const { params, query, cookies, body, refusal = 'invalid_request' } = request
  return new Set<string>([
    ...(rateLimit ? [rateLimit.refusal ?? 'rate_limited'] : []),
    ...refusalsOf(declared),
    ...(params && !Object.values(params.shape).every(takesAnyText) ? (['not_found'] as const) : []),
    ...(body || (query && !takesAnything(query)) ? [refusal] : []),
    ...(cookies && !takesAnything(cookies) ? (['invalid_request'] as const) : []),
    ...(body ? (['invalid_json', 'body_too_large'] as const) : []),
    ...errors,
    'storage_failed',
    'internal',
  ])
}

/** Error codes that any address may return before a request reaches its function, or in a function host. */
export const TRANSPORT_CODES: readonly string[] = [
  'malformed_http',
  'request_timeout',
  'headers_too_large',
  'not_configured',
  'answer_too_large',
]

/** Whether the schema accepts every query or all cookies: each field is optional and takes any text. */
function takesAnything({ shape }: z.ZodObject): boolean {
  return Object.values(shape).every((each) => each instanceof z.ZodOptional && takesAnyText(each.unwrap()))
}

function takesAnyText(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodString && (schema.def.checks ?? []).length === 0
}

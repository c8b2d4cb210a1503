import type * as z from 'zod'
import type { AssetAnswer } from './asset.ts'
import type { AuditAction } from './audit.ts'
import type { Config } from './config.ts'
import type { Context, User } from './context.ts'
import type { ErrorCode, Failure } from './errors.ts'
import type { JsonStream, KeptJson } from './json-stream.ts'
import type { RateLimit } from './rate-limit.ts'

/** Who may call, in this order: anybody; anybody, and a valid token tells who; who is signed in; administrators. */
export type Auth = 'none' | 'optional' | 'user' | 'admin'

/** The user that a handler gets under each `auth`. */
export type UserOf<auth> = auth extends 'none' ? undefined : auth extends 'optional' ? User | undefined : User

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** How a limit is declared; `refusal` and `audit` stand for the answer and the audit entry of a refused request. */
export interface DeclaredLimit extends RateLimit {
  refusal?: ErrorCode
  audit?: AuditAction
}

/** Generous limits for what only reads, and for what changes something, by signed-in users. */
export const READS: DeclaredLimit = { limit: 1200, seconds: 60, by: 'user' }
export const WRITES: DeclaredLimit = { limit: 300, seconds: 60, by: 'user' }

type ParamName<path extends string> = path extends `${string}:${infer name}/${infer rest}`
  ? name | ParamName<`/${rest}`>
  : path extends `${string}:${infer name}`
    ? name
    : never

/**
 * `refusal` is the code of a query or body that the schema rejects; otherwise it is `invalid_request`. Cookies are for
 * the handler to judge: their schema takes whatever comes.
 */
type RequestParts<method> = { query?: z.ZodObject; cookies?: z.ZodObject; refusal?: ErrorCode } & (method extends 'GET'
  ? { body?: never }
  : { body?: z.ZodType })

export type Request<method, path extends string> = RequestParts<method> &
  ([ParamName<path>] extends [never] ? { params?: never } : { params: z.ZodObject<Record<ParamName<path>, z.ZodType>> })

type Part = 'params' | 'query' | 'cookies' | 'body'

export type Input<request> = {
  [part in Part & keyof request as request[part] extends z.ZodType ? part : never]: z.output<
    Extract<request[part], z.ZodType>
  >
}

/** What a token looks like, for examples. */
export const EXAMPLE_TOKEN = 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ik56YkxzWGg4In0.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'

/** A request as it may be sent, and its answer; the schemas of what stands in the path have examples of their own. */
export type Example<request, response extends z.ZodType> = {
  [part in ('query' | 'body') & keyof request as request[part] extends z.ZodType ? part : never]?: NoInfer<
    z.input<Extract<request[part], z.ZodType>>
  >
} & { response: NoInfer<z.output<response>> }

export type RequestField<path extends string, request> = [ParamName<path>] extends [never]
  ? { request?: request }
  : { request: request }

/** What changes state names the audit actions it may write, or says `false`; what reads may name some. */
type Audit<method, action> = method extends 'GET' ? { audit?: readonly action[] } : { audit: readonly action[] | false }

export type FunctionDefinition<
  method extends Method,
  path extends string,
  auth extends Auth,
  action extends AuditAction,
  request,
  response extends z.ZodType,
  code extends ErrorCode,
> = Audit<method, action> &
  RequestField<path, request> & {
    method: method
    path: path
    /** Further addresses, where one thing has several. */
    alsoAt?: readonly string[]
    /** Whether it is there at all; without it, always. */
    isOffered?(config: Config): boolean
    /** The group that it belongs to in the documents, where its address does not say so. */
    area?: string
    /** `false` keeps what is for browsers alone out of the documents, and of the client. */
    document?: false
    /** Its name in the documents, in a few words. */
    summary: string
    /** What it does and what is not to be seen from the schemas, in sentences. */
    description: string
    auth: auth
    /** `false` is a decision too. */
    rateLimit: DeclaredLimit | false
    /** What must hold before the request is read at all; what it throws is the answer. */
    precondition?(context: Context<UserOf<auth>, code, action>): Promise<void>
    /** Of the answer, 200 unless said otherwise; or by the word in the answer's own `status`. */
    status?: StatusOf<response>
    response: response
    /** The headers that the answer may have beside those of every answer, each with what it means. */
    headers?: Readonly<Record<string, string>>
    example?: Example<request, response>
    /** Of an answer that is a text and no JSON. */
    contentType?: z.output<response> extends string ? string : never
    /** What people see instead of JSON, whose browser asks for a page. */
    refusalPage?(failure: Failure): string
    /** Whether people see this page, with the status 404, where a browser goes to an address that there is not. */
    isMissingPage?: boolean
    /** What the handler may throw, beyond what `request`, `auth` and `rateLimit` bring with them. */
    errors?: readonly code[]
    handler(
      input: Input<request>,
      context: Context<UserOf<auth>, code, action>,
    ): Promise<NoInfer<z.input<response>> | JsonStream | KeptJson> | NoInfer<z.input<response>> | AssetAnswer
  }

/** No part of a request is declared, so none is there to be read. */
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
  isOffered?(config: Config): boolean
  area?: string
  document?: false
  summary?: string
  description?: string
  auth: Auth
  rateLimit: DeclaredLimit | false
  audit?: readonly AuditAction[] | false
  request?: { params?: z.ZodObject; query?: z.ZodObject; cookies?: z.ZodObject; body?: z.ZodType; refusal?: ErrorCode }
  precondition?(context: never): Promise<void>
  status?: Status
  response: z.ZodType
  headers?: Readonly<Record<string, string>>
  example?: { query?: object; body?: unknown; response: unknown }
  contentType?: string
  refusalPage?(failure: Failure): string
  isMissingPage?: boolean
  errors?: readonly ErrorCode[]
  handler(input: never, context: never): unknown
}

/** Declares one endpoint. Data only: nothing runs until `createApp` mounts it. */
export function defineFunction<
  const method extends Method,
  const path extends `/api/${string}` | `/.well-known/${string}` | `/panel/${string}` | '/metrics' | '/',
  const auth extends Auth,
  response extends z.ZodType,
  const action extends AuditAction = never,
  const code extends ErrorCode = never,
  request extends Request<method, path> = Request<method, path> & Nothing,
>(definition: FunctionDefinition<method, path, auth, action, request, response, code>): AnyFunction {
  return definition
}

import { AUDIT_ACTIONS, ERRORS } from '../services.ts'

const ERROR_CODES = Object.entries(ERRORS)
  .map(([code, [status, text]]) => `  /** ${status}: ${text} */\n  | '${code}'`)
  .join('\n')
const ACTIONS = AUDIT_ACTIONS.map((action) => `  | '${action}'`).join('\n')

/**
 * The types for authors of modules, as the text of `ops-panel-module.d.ts`: `modules init` writes it beside a new module, and
 * the package of a release contains it. A test compiles it against the service's own types.
 */
export const MODULE_TYPES = `// Types of modules for ops-panel. Write \`/** @import { Kit } from './ops-panel-module.d.ts' */\` in backend.mjs.
// With the package zod installed beside it, schemas have their types too.
import type * as zod from 'zod'

/** The argument of the default export of a module. */
export interface Kit {
  /** The service's own zod. */
  z: typeof zod
  /** Declares an endpoint under /api/modules/<id>/. */
  defineFunction<const request extends Request, response extends zod.ZodType>(
    declared: FunctionDeclaration<request, response>,
  ): Declaration
  /** Declares the page at /modules/<id>; at most one. */
  definePage(declared: PageDeclaration): Declaration
  /** Declares settings; at most once. Each field has a default or is optional, except secret ones. */
  defineSettings(declared: { fields: zod.ZodObject; secrets?: readonly string[] }): Declaration
  /** Declares work that runs again and again while the module is enabled. */
  defineTask(declared: {
    /** Small letters, digits and “-”. */
    name: string
    /** Seconds, 60 at least. */
    every: number
    run(context: TaskContext): unknown
  }): Declaration
}

export type Declaration = object

/** The error codes of the service, with their status and their French sentence. */
export type ErrorCode =
${ERROR_CODES}

/** The actions of the audit log. */
export type AuditAction =
${ACTIONS}

export interface Request {
  params?: zod.ZodObject
  query?: zod.ZodObject
  cookies?: zod.ZodObject
  body?: zod.ZodType
  /** The error code of a request that a schema rejects. */
  refusal?: ErrorCode
}

type Part = 'params' | 'query' | 'cookies' | 'body'
type Input<request> = {
  [part in Part as request extends Record<part, zod.ZodType> ? part : never]: request extends Record<
    part,
    infer schema extends zod.ZodType
  >
    ? zod.output<schema>
    : never
}

/** \`shared\` counts all instances of the service together. */
export interface Limit {
  limit: number
  seconds: number
  by: 'user' | 'address'
  shared?: boolean
  refusal?: ErrorCode
  audit?: AuditAction
}

export interface FunctionDeclaration<request extends Request, response extends zod.ZodType> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: \`/api/modules/\${string}\`
  summary?: string
  description?: string
  area?: string
  auth: 'none' | 'optional' | 'user' | 'operator' | 'admin'
  credential?: 'session'
  stepUp?: true
  targets?:
    | 'none'
    | 'own'
    | ((input: Input<request>, services: unknown) => readonly string[] | undefined | Promise<readonly string[] | undefined>)
  rateLimit: false | Limit
  /** Required unless the method is GET. */
  audit?: false | readonly AuditAction[]
  request?: request
  status?: 200 | 201 | 202
  response: response
  headers?: Readonly<Record<string, string>>
  example?: { query?: object; body?: unknown; response: unknown }
  contentType?: string
  errors?: readonly ErrorCode[]
  handler(input: Input<request>, context: Context): Promise<zod.input<response>> | zod.input<response>
}

export interface User {
  id: number
  username: string
  role: 'viewer' | 'operator' | 'admin'
  operates: 'all' | readonly string[]
  targets: 'all' | readonly string[]
  credential: 'session' | 'token'
}

export interface Shared {
  host: Host
  /** The panel's database. Its tables change between versions. */
  db: {
    /** Returns the rows of a query, each parsed by the schema. */
    query<row>(row: zod.ZodType<row>, sql: string, args?: unknown[]): Promise<row[]>
    /** Returns the number of changed rows. */
    run(sql: string, args?: unknown[]): Promise<number>
  }
  store: Store
  /** The settings that the module has declared, with their defaults; secrets as texts, undefined when not set. */
  moduleSettings(): Promise<any>
  clock(): Date
  log: Log
  /** Aborted when the client is gone, or when a task must end. */
  signal: AbortSignal
}

/** The second argument of a handler. */
export interface Context extends Shared {
  /** Undefined when nobody is signed in, which is possible with auth none and optional only. */
  user: User & { isAdmin: boolean }
  caller: { address: string; userAgent: string; secure: boolean; host: string | undefined }
  /** Creates an error with a declared code, to be thrown. */
  fail(code: ErrorCode, options?: { values?: Record<string, string | number>; details?: { field: string; message: string }[] }): Error
  /** Writes one of the declared audit actions. Of \`module_action\`, \`{ target, details: { text } }\` are kept. */
  audit(action: AuditAction, note?: { target?: string; details?: Record<string, string | number | boolean | null> }): Promise<void>
  /** Sets a header of the answer. */
  header(name: string, value: string): void
}

/** The argument of a task. */
export type TaskContext = Shared

export interface Host {
  /** Runs a command on the host; its words are separate, and no shell reads them. */
  exec(
    command: readonly string[],
    options?: { rights?: 'none' | 'command' },
  ): Promise<{ code: number | null; stdout: string; stderr: string }>
}

export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** The data of the module in the panel's database. It is removed with the module. */
export interface Store {
  /** Values are JSON of 64 KiB at most, 1,000 of them. */
  get(name: string): Promise<any>
  set(name: string, value: unknown): Promise<void>
  delete(name: string): Promise<void>
  list(): Promise<Record<string, any>>
  /** Encrypted texts, 100 at most. */
  secrets: {
    get(name: string): Promise<string | undefined>
    set(name: string, text: string): Promise<void>
    delete(name: string): Promise<void>
    list(): Promise<string[]>
  }
  /** A table of its own: JSON values by id, 100,000 in all. */
  records(collection: string): Records
}

export interface Records {
  put(id: string, value: unknown): Promise<void>
  get(id: string): Promise<any>
  /** By id, 100 unless \`limit\` says otherwise (1,000 at most); the next page begins behind \`after\`. */
  list(page?: { after?: string; limit?: number; newest?: boolean }): Promise<{ id: string; value: any; updated_at: string }[]>
  delete(id: string): Promise<boolean>
}

/** A text of the page, or one for each language. */
export type Words = string | { fr: string; en: string }

export interface PageDeclaration {
  title?: Words
  sections: Section[]
}

export interface Shown {
  field: string
  label: Words
  as?: 'text' | 'number' | 'bytes' | 'time' | 'duration' | 'status' | 'code' | 'link'
}

export type Section =
  | {
      kind: 'table'
      title?: Words
      /** An endpoint of the module without parameters: 'GET /api/modules/<id>/…'. */
      from: string
      /** The path of the list in the answer; absent when the answer is the list. */
      rows?: string
      key: string
      columns: Shown[]
      actions?: { label: Words; call: string; confirm?: Words; danger?: boolean }[]
      empty?: Words
      refresh?: number
    }
  | { kind: 'facts'; title?: Words; from: string; fields: Shown[]; refresh?: number }
  | {
      kind: 'form'
      title?: Words
      call: string
      from?: string
      submit?: Words
      fields?: {
        field: string
        label?: Words
        help?: Words
        as?: 'text' | 'password' | 'number' | 'checkbox' | 'choice' | 'textarea'
      }[]
    }
  | { kind: 'action'; label: Words; help?: Words; call: string; confirm?: Words; danger?: boolean }
  | { kind: 'text'; text: Words }
`

import { createDocument, type oas31, type ZodOpenApiObject, type ZodOpenApiOperationObject } from 'zod-openapi'
import type { ErrorTable } from '../runtime/errors.ts'
import type { AnyFunction } from '../runtime/function.ts'
import { mayBeMissing } from '../runtime/input.ts'
import type { ModuleOperations } from './modules-part.ts'
import { responsesOf } from './responses.ts'
import { SCHEMA_OPTIONS } from './schema.ts'

/** Describes one function as an operation of the document. */
export function operation(fn: AnyFunction, errors: ErrorTable): ZodOpenApiOperationObject {
  const { params, query, cookies, body } = fn.request ?? {}
  const operationId = operationIdOf(fn)
  const { summary = operationId, description, example } = fn
  return {
    operationId,
    tags: [areaOf(fn)],
    summary,
    description: [description, accessSentence(fn), limitSentence(fn)].filter(Boolean).join('\n\n'),
    security: securityOf(fn),
    ...(fn.auth === 'none' || fn.auth === 'optional' ? {} : { 'x-role': fn.auth }),
    ...(fn.stepUp && { 'x-step-up': true }),
    ...(fn.rateLimit && { 'x-rate-limit': { ...limitOf(fn.rateLimit) } }),
    requestParams: {
      ...(params && { path: params }),
      ...(query && { query }),
      ...(cookies && { cookie: cookies }),
    },
    ...(body && {
      requestBody: {
        required: !mayBeMissing(body),
        content: { 'application/json': { schema: body, ...(example && { example: example.body }) } },
      },
    }),
    responses: responsesOf(fn, errors),
  }
}

/**
 * Returns the operation id: `POST /api/auth/login` becomes `postAuthLogin`, `GET /api/updates/jobs/:id` becomes
 * `getUpdatesJobsById`.
 */
export function operationIdOf({ method, path }: Pick<AnyFunction, 'method' | 'path'>): string {
  const words = path
    .replace(/^\/api\//, '')
    .replace(/:(\w+)/g, 'by-$1')
    .split(/\W+/)
    .filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** Returns the group of a function: the declared one, else the first segment of its path after `/api`. */
export function areaOf({ area, path }: Pick<AnyFunction, 'area' | 'path'>): string {
  return area ?? /^\/(?:api\/)?([\w-]+)/.exec(path)?.[1] ?? 'other'
}

function limitOf({ limit, seconds, by }: Exclude<AnyFunction['rateLimit'], false>) {
  return { limit, seconds, by }
}

function accessSentence({ auth, credential, stepUp }: AnyFunction): string {
  const audience = {
    none: '',
    optional: '',
    user: 'For signed-in users.',
    operator: 'For operators and administrators.',
    admin: 'For administrators.',
  }[auth]
  if (stepUp) return `${audience} The last proof must be at most 15 minutes old. Not for API tokens.`
  return credential ? `${audience} Not for API tokens.`.trim() : audience
}

function limitSentence({ rateLimit }: AnyFunction): string {
  if (!rateLimit) return ''
  const { limit, seconds, by } = rateLimit
  return `At most ${limit} requests in ${seconds} s, counted by ${by === 'user' ? 'user' : 'address'}.`
}

/** Returns the names of the cookies that a function reads; all of them are credentials. */
export function cookiesOf({ request }: AnyFunction): string[] {
  return Object.keys(request?.cookies?.shape ?? {})
}

/** Returns the alternative credentials for a function; an empty alternative means none. */
export function securityOf(fn: AnyFunction): oas31.SecurityRequirementObject[] {
  const cookies = Object.fromEntries(cookiesOf(fn).map((name) => [name, []]))
  const token = { accessToken: [] }
  const asked = fn.auth === 'none' ? [] : [token]
  const withCookies = cookiesOf(fn).length > 0 ? [fn.auth === 'none' ? cookies : { ...token, ...cookies }] : []
  return [...(fn.auth === 'optional' ? [{}] : []), ...asked, ...withCookies]
}

export type OpenApi = ReturnType<typeof createDocument>

const DESCRIPTION = `The HTTP API of the panel's service: JSON in and out, UTF-8, names in snake_case. Timestamps are RFC 3339 in UTC.

Every error has a stable \`code\`, from which clients translate, and a sentence in French. Every answer has an \`X-Request-Id\`, which
also appears in the service's log. \`/api/asyncapi.json\` describes the WebSockets.`

const RETRY_AFTER = {
  description: 'Seconds after which the client may repeat the request.',
  schema: { type: 'integer' as const, minimum: 0 },
}

/**
 * Creates the OpenAPI document of the functions; `areas` describes their groups, and `added` the endpoints of modules.
 */
export function createOpenApi(
  functions: readonly AnyFunction[],
  { version, areas, errors }: { version: string; areas: Readonly<Record<string, string>>; errors: ErrorTable },
  added?: (taken: { errors: ErrorTable; names: string[]; ids: string[] }) => ModuleOperations,
): OpenApi {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {}
  for (const fn of functions) {
    if (fn.document === false) continue
    const path = fn.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [fn.method.toLowerCase()]: operation(fn, errors) }
  }
  const names = [...new Set([...Object.keys(areas), ...functions.map(areaOf)])]
  const more = added?.({ errors, names, ids: functions.map(operationIdOf) })
  const document: ZodOpenApiObject = {
    openapi: '3.1.0',
    info: { title: 'ops-panel', version, description: DESCRIPTION },
    servers: [{ url: '/' }],
    tags: [...Object.entries(areas).map(([name, description]) => ({ name, description })), ...(more?.tags ?? [])],
    paths: { ...paths, ...more?.paths },
    components: {
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'The access token of `POST /api/auth/login`, or an API token of `POST /api/auth/tokens` (`opt_…`).',
        },
        ...Object.fromEntries(
          functions.flatMap(cookiesOf).map((name) => [name, { type: 'apiKey' as const, in: 'cookie' as const, name }]),
        ),
      },
      headers: {
        'X-Request-Id': {
          description: 'The id of the request in the log.',
          required: true,
          schema: { type: 'string', format: 'uuid' },
        },
        'Retry-After': { ...RETRY_AFTER, required: true },
        'Retry-After-Perhaps': RETRY_AFTER,
      },
    },
  }
  return createDocument(document, SCHEMA_OPTIONS)
}

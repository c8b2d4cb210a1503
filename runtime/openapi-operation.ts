import type { ZodOpenApiOperationObject } from 'zod-openapi'
import type { AnyFunction } from './function.ts'
import { mayBeMissing } from './input.ts'
import { securityOf } from './openapi-auth.ts'
import { responsesOf } from './openapi-responses.ts'

/** One function as an operation of the document. */
export function operation(fn: AnyFunction): ZodOpenApiOperationObject {
  const { params, query, cookies, body } = fn.request ?? {}
  const operationId = operationIdOf(fn)
  const { summary = operationId, description, example } = fn
  return {
    operationId,
    tags: [areaOf(fn)],
    summary,
    description: [description, limitSentence(fn)].filter(Boolean).join('\n\n'),
    security: securityOf(fn),
    ...(fn.auth === 'user' || fn.auth === 'admin' ? { 'x-role': fn.auth } : {}),
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
    responses: responsesOf(fn),
  }
}

/** `POST /api/auth/login` is `postAuthLogin`, `GET /api/updates/jobs/:id` is `getUpdatesJobsById`. */
export function operationIdOf({ method, path }: Pick<AnyFunction, 'method' | 'path'>): string {
  const words = path
    .replace(/^\/api\//, '')
    .replace(/:(\w+)/g, 'by-$1')
    .split(/\W+/)
    .filter((word) => word !== '')
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/** The group that a function belongs to: by its address, unless it says another. */
export function areaOf({ area, path }: Pick<AnyFunction, 'area' | 'path'>): string {
  return area ?? /^\/(?:api\/)?([\w-]+)/.exec(path)?.[1] ?? 'other'
}

function limitOf({ limit, seconds, by }: Exclude<AnyFunction['rateLimit'], false>) {
  return { limit, seconds, by }
}

function limitSentence({ auth, rateLimit }: AnyFunction): string {
  const who = { none: '', optional: '', user: 'For who is signed in. ', admin: 'For administrators. ' }[auth]
  if (!rateLimit) return who.trim()
  const { limit, seconds, by } = rateLimit
  return `${who}At most ${limit} requests in ${seconds} s, counted by ${by === 'user' ? 'user' : 'address'}.`
}

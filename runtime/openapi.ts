import { createDocument, type ZodOpenApiObject } from 'zod-openapi'
import type { AnyFunction } from './function.ts'
import { cookiesOf } from './openapi-auth.ts'
import { operation } from './openapi-operation.ts'
import { SCHEMA_OPTIONS } from './openapi-schema.ts'

export type OpenApi = ReturnType<typeof createDocument>

const DESCRIPTION = `What the panel's service offers: JSON in and out, UTF-8, names in snake_case. Timestamps are RFC 3339 in UTC.

Every error has a stable \`code\`, from which clients translate, and a sentence in French. Every answer has an \`X-Request-Id\`, under
which the service's log knows it. What is sent live over WebSockets is described in \`/api/asyncapi.json\`.`

const RETRY_AFTER = {
  description: 'Seconds after which the request is worth repeating.',
  schema: { type: 'integer' as const, minimum: 0 },
}

/** The OpenAPI document of some functions; \`areas\` says what each group of them is for. */
export function createOpenApi(
  functions: readonly AnyFunction[],
  { version, areas }: { version: string; areas: Readonly<Record<string, string>> },
): OpenApi {
  const paths: Record<string, Record<string, ReturnType<typeof operation>>> = {}
  for (const fn of functions) {
    if (fn.document === false) continue
    const path = fn.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [fn.method.toLowerCase()]: operation(fn) }
  }
  const document: ZodOpenApiObject = {
    openapi: '3.1.0',
    info: { title: 'ops-panel', version, description: DESCRIPTION },
    servers: [{ url: '/' }],
    tags: Object.entries(areas).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'What `POST /api/auth/login` gives.',
        },
        ...Object.fromEntries(
          functions.flatMap(cookiesOf).map((name) => [name, { type: 'apiKey' as const, in: 'cookie' as const, name }]),
        ),
      },
      headers: {
        'X-Request-Id': {
          description: 'Names the request in the log.',
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

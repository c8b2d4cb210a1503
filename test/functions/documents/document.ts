import * as z from 'zod'

const Reference = z.strictObject({ $ref: z.string() })
const Content = z.record(z.string(), z.looseObject({ schema: z.unknown(), example: z.unknown().optional() }))
const Refusal = z.looseObject({ properties: z.looseObject({ code: z.looseObject({ enum: z.array(z.string()) }) }) })
const Operation = z.looseObject({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  'x-role': z.string().optional(),
  'x-rate-limit': z.looseObject({ limit: z.number(), seconds: z.number(), by: z.string() }).optional(),
  parameters: z.array(z.looseObject({ in: z.string(), name: z.string(), schema: z.unknown() })).default([]),
  requestBody: z.looseObject({ required: z.boolean(), content: Content }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ description: z.string(), headers: z.record(z.string(), z.unknown()), content: Content }),
  ),
})
export type Operation = z.infer<typeof Operation>

/** The part of an OpenAPI document that the tests use. */
export const OpenApi = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ version: z.string() }),
  tags: z.array(z.looseObject({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.record(z.string(), z.unknown())) }),
})
export type OpenApi = z.infer<typeof OpenApi>

/** Returns the operations, by declared method and path. */
export function operationsOf({ paths }: OpenApi): Map<string, Operation> {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
      operation,
    ]),
  )
  return new Map(all)
}

/** Returns the possible codes of an operation, and the status of each. */
export function codesIn({ responses }: Operation): Map<string, number> {
  return new Map(
    Object.entries(responses).flatMap(([status, { content }]) => {
      const { data } = Refusal.safeParse(content['application/json']?.schema)
      return (data?.properties.code.enum ?? []).map((code): [string, number] => [code, Number(status)])
    }),
  )
}

/** Returns the component of a schema. */
export function componentOf(schema: unknown): string | undefined {
  return Reference.safeParse(schema).data?.$ref.replace('#/components/schemas/', '')
}

import * as z from 'zod'

/** The part of JSON Schema 2020-12 from which values are generated. Ajv decides whether a value is valid. */
export interface Schema {
  $ref?: string | undefined
  type?: string | string[] | undefined
  enum?: unknown[] | undefined
  const?: unknown
  anyOf?: Schema[] | undefined
  oneOf?: Schema[] | undefined
  allOf?: Schema[] | undefined
  properties?: Record<string, Schema> | undefined
  required?: string[] | undefined
  additionalProperties?: boolean | Schema | undefined
  items?: boolean | Schema | undefined
  prefixItems?: Schema[] | undefined
  minItems?: number | undefined
  maxItems?: number | undefined
  minLength?: number | undefined
  maxLength?: number | undefined
  pattern?: string | undefined
  format?: string | undefined
  contentMediaType?: string | undefined
  contentSchema?: Schema | undefined
  minimum?: number | undefined
  maximum?: number | undefined
  exclusiveMinimum?: number | undefined
  exclusiveMaximum?: number | undefined
  examples?: unknown[] | undefined
}

const count = z.number().optional()

export const Schema: z.ZodType<Schema> = z.lazy(() =>
  z.looseObject({
    $ref: z.string().optional(),
    type: z.union([z.string(), z.array(z.string())]).optional(),
    enum: z.array(z.unknown()).optional(),
    anyOf: z.array(Schema).optional(),
    oneOf: z.array(Schema).optional(),
    allOf: z.array(Schema).optional(),
    properties: z.record(z.string(), Schema).optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.union([z.boolean(), Schema]).optional(),
    items: z.union([z.boolean(), Schema]).optional(),
    prefixItems: z.array(Schema).optional(),
    minItems: count,
    maxItems: count,
    minLength: count,
    maxLength: count,
    pattern: z.string().optional(),
    format: z.string().optional(),
    contentMediaType: z.string().optional(),
    contentSchema: Schema.optional(),
    minimum: count,
    maximum: count,
    exclusiveMinimum: count,
    exclusiveMaximum: count,
    examples: z.array(z.unknown()).optional(),
  }),
)

export type Components = Readonly<Record<string, Schema>>

/** The name of the component that a schema refers to. */
export function componentOf({ $ref }: Schema): string | undefined {
  return $ref === undefined ? undefined : /^#\/components\/schemas\/([\w.-]+)$/.exec($ref)?.[1]
}

/** Resolves a schema that may be a reference. */
export function resolved(schema: Schema, components: Components): Schema {
  if (schema.$ref === undefined) return schema
  const name = componentOf(schema)
  const found = name === undefined ? undefined : components[name]
  if (!found) throw new Error(`${schema.$ref} is not in the document`)
  return resolved(found, components)
}

export function typesOf({ type }: Schema): readonly string[] {
  return type === undefined ? [] : [type].flat()
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The schema of the item at a position of a list. */
export function itemOf({ items, prefixItems }: Schema, at: number): Schema | undefined {
  return prefixItems?.[at] ?? (typeof items === 'object' ? items : undefined)
}

import type * as z from 'zod'
import { type CreateDocumentOptions, createSchema } from 'zod-openapi'

/** Options for schemas in the documents. */
export const SCHEMA_OPTIONS: CreateDocumentOptions = {
  override: ({ jsonSchema }) => withoutSafeLimits(jsonSchema),
}

/** Removes the limits of safe integers: they hold for every number in JavaScript. */
export function withoutSafeLimits(schema: { minimum?: unknown; maximum?: unknown }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

type Schema = ReturnType<typeof createSchema>['schema']

/** The schemas of one document, with each component listed once. */
export interface Schemas {
  /** Returns the schema as the document shows it, for output or for input. */
  of(schema: z.ZodType, io: 'output' | 'input'): Schema
  components(): Record<string, Schema>
}

export function createSchemas(): Schemas {
  const all: Record<string, Schema> = {}
  return {
    of(schema, io) {
      const { schema: written, components } = createSchema(schema, { io, opts: SCHEMA_OPTIONS })
      Object.assign(all, components)
      return written
    },
    components: () => all,
  }
}

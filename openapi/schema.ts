import type * as z from 'zod'
import { type CreateDocumentOptions, createSchema } from 'zod-openapi'

/** Options for schemas in the documents. */
export const SCHEMA_OPTIONS: CreateDocumentOptions = {
  override({ jsonSchema }) {
    // The limits of safe integers are omitted: they hold for every number in JavaScript.
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  },
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

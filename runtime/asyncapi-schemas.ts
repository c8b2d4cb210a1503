import type * as z from 'zod'
import { createSchema } from 'zod-openapi'
import { SCHEMA_OPTIONS } from './openapi-schema.ts'

type Schema = ReturnType<typeof createSchema>['schema']

/** The schemas of a document, each component of them once. */
export interface Schemas {
  /** How a schema is written in the document: of what is sent, or of what is taken. */
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

import type { CreateDocumentOptions } from 'zod-openapi'

/** How schemas are written in the documents. */
export const SCHEMA_OPTIONS: CreateDocumentOptions = {
  override({ jsonSchema }) {
    // That a number is one that JavaScript can hold goes without saying.
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  },
}

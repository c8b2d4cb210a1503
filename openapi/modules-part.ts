import type { ZodOpenApiOperationObject } from 'zod-openapi'
import type { AnyFunction } from '../runtime/function.ts'

/** A loaded module whose endpoints the document describes. */
export interface DocumentedModule {
  id: string
  name: string
  description: string
  functions: readonly AnyFunction[]
}

/** The part of the document about modules. */
export interface ModuleOperations {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, ZodOpenApiOperationObject>>
}

/*
 * OpenAPI and AsyncAPI documents: describes the HTTP functions and sockets from their own declarations. The documents
 * list exactly what is declared, and creating them does not slow down the start. The room must not know what any
 * function does, and must not read settings, sessions or the database.
 */

import type { ErrorTable } from '../runtime/errors.ts'
import type { AnyFunction } from '../runtime/function.ts'
import type { AnySocket } from '../runtime/socket.ts'
import type { AsyncApi } from './asyncapi.ts'
import type { OpenApi } from './operation.ts'

/** The documents that describe the service to programs. Each one is created at its first request and kept. */
export interface Documents {
  openApi(): Promise<OpenApi>
  asyncApi(): Promise<AsyncApi>
}

/** Creates the documents. Their generators load at the first request, so that they do not slow down the start. */
export function createDocuments(
  {
    functions,
    sockets,
    areas = {},
    errors,
  }: {
    functions: readonly AnyFunction[]
    sockets: readonly AnySocket[]
    /** Descriptions of the groups of functions, by group. */
    areas?: Readonly<Record<string, string>>
    errors: ErrorTable
  },
  version: string,
): Documents {
  let openApi: OpenApi | undefined
  let asyncApi: AsyncApi | undefined
  return {
    async openApi() {
      openApi ??= (await import('./operation.ts')).createOpenApi(functions, { version, areas, errors })
      return openApi
    },
    async asyncApi() {
      asyncApi ??= (await import('./asyncapi.ts')).createAsyncApi(sockets, version)
      return asyncApi
    },
  }
}

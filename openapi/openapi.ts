/*
 * OpenAPI and AsyncAPI documents: describes the HTTP functions and sockets from their own declarations. The documents
 * list exactly what is declared, and creating them does not slow down the start. The room must not know what any
 * function does, and must not read settings, sessions or the database.
 */

import type { ErrorTable } from '../runtime/errors.ts'
import type { AnyFunction } from '../runtime/function.ts'
import type { AnySocket } from '../runtime/socket.ts'
import type { AsyncApi } from './asyncapi.ts'
import type { DocumentedModule } from './modules-part.ts'
import type { OpenApi } from './operation.ts'

export type { DocumentedModule } from './modules-part.ts'

/** The documents that describe the service to programs. Each one is created at its first request and kept. */
export interface Documents {
  /** Describes the functions, and the endpoints of these modules. */
  openApi(modules?: readonly DocumentedModule[]): Promise<OpenApi>
  asyncApi(): Promise<AsyncApi>
}

/** The declarations that the documents describe. */
interface Declared {
  functions: readonly AnyFunction[]
  sockets: readonly AnySocket[]
  /** Descriptions of the groups of functions, by group. */
  areas?: Readonly<Record<string, string>>
  errors: ErrorTable
}

/** By their functions. Creating the documents takes a third of a second, and one process may run several instances. */
const known = new WeakMap<readonly AnyFunction[], Declared & { version: string; documents: Documents }>()

/**
 * Returns the documents of these declarations. Their generators load at the first request, so that they do not slow down
 * the start.
 */
export function createDocuments({ functions, sockets, areas, errors }: Declared, version: string): Documents {
  const same = known.get(functions)
  if (same && same.version === version && same.sockets === sockets && same.areas === areas && same.errors === errors)
    return same.documents
  /** The newest document: modules change seldom. */
  let openApi: { modules: readonly DocumentedModule[]; document: OpenApi } | undefined
  let asyncApi: AsyncApi | undefined
  const documents: Documents = {
    async openApi(modules = []) {
      if (openApi && isSame(openApi.modules, modules)) return openApi.document
      const [{ createOpenApi }, { moduleOperations }] = await Promise.all([
        import('./operation.ts'),
        import('./module-operations.ts'),
      ])
      const about = { version, areas: areas ?? {}, errors }
      const document = createOpenApi(functions, about, (taken) => moduleOperations(modules, taken))
      openApi = { modules, document }
      return document
    },
    async asyncApi() {
      asyncApi ??= (await import('./asyncapi.ts')).createAsyncApi(sockets, version)
      return asyncApi
    },
  }
  known.set(functions, { functions, sockets, ...(areas && { areas }), errors, version, documents })
  return documents
}

function isSame(before: readonly DocumentedModule[], now: readonly DocumentedModule[]): boolean {
  return before.length === now.length && now.every(({ functions }, index) => before[index]?.functions === functions)
}

import type { AsyncApi } from './asyncapi.ts'
import type { Manifest } from './manifest.ts'
import type { OpenApi } from './openapi.ts'

/** How the service describes itself to programs, from its own declarations. Each is made when first asked for, and kept. */
export interface Documents {
  openApi(): Promise<OpenApi>
  asyncApi(): Promise<AsyncApi>
}

/** What makes them is loaded with the first: no start waits for it. */
export function createDocuments(
  { functions, sockets, areas = {} }: Pick<Manifest, 'functions' | 'sockets' | 'areas'>,
  version: string,
): Documents {
  let openApi: Promise<OpenApi> | undefined
  let asyncApi: Promise<AsyncApi> | undefined
  return {
    openApi: () =>
      (openApi ??= import('./openapi.ts').then((made) => made.createOpenApi(functions, { version, areas }))),
    asyncApi: () => (asyncApi ??= import('./asyncapi.ts').then((made) => made.createAsyncApi(sockets, version))),
  }
}

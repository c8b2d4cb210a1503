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
  let openApi: OpenApi | undefined
  let asyncApi: AsyncApi | undefined
  return {
    async openApi() {
      openApi ??= (await import('./openapi.ts')).createOpenApi(functions, { version, areas })
      return openApi
    },
    async asyncApi() {
      asyncApi ??= (await import('./asyncapi.ts')).createAsyncApi(sockets, version)
      return asyncApi
    },
  }
}

import type { Manifest } from './manifest.ts'
import type { OpenApi } from './openapi.ts'

/** How the service describes itself to programs, from its own declarations. Made when first asked for, and kept. */
export interface Documents {
  openApi(): Promise<OpenApi>
}

/** What makes them is loaded with the first: no start waits for it. */
export function createDocuments(
  { functions, areas = {} }: Pick<Manifest, 'functions' | 'areas'>,
  version: string,
): Documents {
  let openApi: Promise<OpenApi> | undefined
  return {
    openApi: () =>
      (openApi ??= import('./openapi.ts').then(({ createOpenApi }) => createOpenApi(functions, { version, areas }))),
  }
}

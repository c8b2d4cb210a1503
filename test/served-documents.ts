import { ERRORS } from '../functions/services.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import * as z from 'zod'
import { areas, functions, sockets } from '../functions/index.ts'
import { ASSET_FILES } from '../platform/asset-files.ts'
import { createDocuments } from '../openapi/openapi.ts'

const About = z.object({ info: z.object({ version: z.string() }) })

/** A build describes itself like its sources, and contains the page's files, ready for a browser. */
export async function expectDocuments(url: string): Promise<void> {
  const get = (path: string, accepted = 'gzip, br') =>
    fetch(`${url}${path}`, { headers: { 'accept-encoding': accepted } })
  const served: unknown = await (await get('/api/openapi.json')).json()
  const documents = createDocuments({ functions, sockets, areas, errors: ERRORS }, About.parse(served).info.version)
  expect(served).toEqual(await documents.openApi())
  expect(await (await get('/api/asyncapi.json')).json()).toEqual(await documents.asyncApi())

  const page = await (await get('/api/docs')).text()
  for (const [name, path] of Object.entries(ASSET_FILES)) {
    const [address = ''] = new RegExp(`docs/${name.replace('.', '\\.')}\\?v=\\w+`).exec(page) ?? []
    const content = await readFile(join(import.meta.dirname, '..', path), 'utf8')
    for (const [accepted, encoding] of [
      ['gzip, br', 'br'] as const,
      ['gzip', 'gzip'] as const,
      ['identity', null] as const,
    ]) {
      const file = await get(`/api/${address}`, accepted)
      expect(file.headers.get('content-encoding')).toBe(encoding)
      expect(file.headers.get('cache-control')).toContain('immutable')
      expect(await file.text()).toBe(content)
    }
  }
}

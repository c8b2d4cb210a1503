import { expect } from 'vitest'
import { buildPanel } from '../packaging/panel.ts'
import { ROUTES } from '../panel/routes.ts'
import { PANEL_PAGE } from '../platform/asset-files.ts'

/** A build contains the panel of its sources, byte for byte, ready for a browser. */
export async function expectPanel(url: string): Promise<void> {
  const { files } = await buildPanel()
  expect(files.size).toBeGreaterThan(3)
  const addresses = ROUTES.map(({ path }): [string, string] => [path.slice(1).replace(':job', 'some-job'), PANEL_PAGE])
  const loaded = [...files.keys()].filter((name) => name !== PANEL_PAGE).map((name): [string, string] => [name, name])
  for (const [path, name] of [...addresses, ...loaded])
    for (const [accepted, encoding] of [
      ['gzip, br', 'br'] as const,
      ['gzip', 'gzip'] as const,
      ['identity', null] as const,
    ]) {
      const response = await fetch(`${url}/${path}`, { headers: { 'accept-encoding': accepted } })
      expect([path, response.status]).toEqual([path, 200])
      expect(response.headers.get('content-encoding')).toBe(encoding)
      expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(files.get(name) ?? []))).toBe(true)
    }
}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ASSET_FILES, type StoredAsset } from './asset-files.ts'

const files: ReadonlyMap<string, string> = new Map(Object.entries(ASSET_FILES))

/**
 * Reads a file from the project folder, and rebuilds the panel after a change of its sources. In a build,
 * packaging/assets.mjs replaces this module by one that contains the files. The same file is the same object.
 */
export async function storedAsset(name: string): Promise<StoredAsset | undefined> {
  const path = files.get(name)
  if (path === undefined) return (await import('../packaging/panel-from-sources.ts')).panelAsset(name)
  return { bytes: await readFile(join(import.meta.dirname, '..', path)), encoding: 'identity' }
}

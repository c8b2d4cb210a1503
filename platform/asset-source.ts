import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ASSET_FILES } from './asset-files.ts'

/** A file as it is kept. */
export interface StoredAsset {
  bytes: Uint8Array<ArrayBuffer>
  encoding: 'br' | 'identity'
}

const files: ReadonlyMap<string, string> = new Map(Object.entries(ASSET_FILES))

/**
 * From the project's own folder, the panel built anew once its sources have changed. In what is built, packaging/assets.mjs has
 * another in its place, which has the files inside. The same file is the same object.
 */
export async function storedAsset(name: string): Promise<StoredAsset | undefined> {
  const path = files.get(name)
  if (path === undefined) return (await import('../packaging/panel-from-sources.ts')).panelAsset(name)
  return { bytes: await readFile(join(import.meta.dirname, '..', path)), encoding: 'identity' }
}

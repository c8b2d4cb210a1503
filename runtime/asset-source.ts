import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ASSET_FILES, type AssetName } from './asset-files.ts'

/** A file as it is kept. */
export interface StoredAsset {
  bytes: Uint8Array<ArrayBuffer>
  encoding: 'br' | 'identity'
}

/** From the project's own folder. In what is built, packaging/assets.mjs has another in its place, which has the files inside. */
export async function storedAsset(name: AssetName): Promise<StoredAsset> {
  return { bytes: await readFile(join(import.meta.dirname, '..', ASSET_FILES[name])), encoding: 'identity' }
}

import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliDecompress, gzip } from 'node:zlib'
import type { StoredAsset } from './asset-files.ts'

// Derived from a stored file, once: its other encodings and its version.

/** Over unencrypted connections, browsers accept gzip but not Brotli. */
export const gzipped = oncePerAsset(async (asset) => promisify(gzip)(await unpacked(asset)))
/** The bytes of the file itself. */
export const unpacked = oncePerAsset(async ({ bytes, encoding }) =>
  encoding === 'br' ? promisify(brotliDecompress)(bytes) : bytes,
)
/** Names the content of a file in its address. */
export const versionOf = oncePerAsset(async ({ bytes }) =>
  createHash('sha256').update(bytes).digest('hex').slice(0, 12),
)

/** Caches a value derived from a file. A failed derivation is retried at the next request. */
function oncePerAsset<made>(make: (asset: StoredAsset) => Promise<made>): (asset: StoredAsset) => Promise<made> {
  const all = new WeakMap<StoredAsset, Promise<made>>()
  return (asset) => {
    const found = all.get(asset)
    if (found) return found
    const making = make(asset)
    all.set(asset, making)
    making.catch(() => all.delete(asset))
    return making
  }
}

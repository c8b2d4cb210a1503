import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliDecompress, gzip } from 'node:zlib'
import type { HeaderList } from './answer.ts'
import type { AssetName } from './asset-files.ts'
import { type StoredAsset, storedAsset } from './asset-source.ts'

const TYPES: Readonly<Record<string, string>> = { css: 'text/css', js: 'text/javascript' }

/** An answer that is a file, as it is; `version` is the one that was asked for. */
export class AssetAnswer {
  readonly name: AssetName
  readonly version: string | undefined

  constructor(name: AssetName, version?: string) {
    this.name = name
    this.version = version
  }
}

/** Of the version that was asked for alone: another instance may have named one that is not here, or is here no more. */
const FOR_EVER = 'public, max-age=31536000, immutable'

const stored = kept(storedAsset)
/** Browsers ask for it where the connection is in clear. */
const gzipped = kept(async (name) => promisify(gzip)(await plain(await stored(name))))
const unpacked = kept(async (name) => plain(await stored(name)))
const versions = kept(async (name) =>
  createHash('sha256')
    .update((await stored(name)).bytes)
    .digest('hex')
    .slice(0, 12),
)

/** The address of a file, from the folder in which it is served. */
export async function assetAddress(folder: string, name: AssetName): Promise<string> {
  return `${folder}/${name}?v=${await versions(name)}`
}

/** The file's bytes for who says `Accept-Encoding` so, and the headers that go with them. */
export async function encoded(
  { name, version }: AssetAnswer,
  accepted = '',
): Promise<{ bytes: Uint8Array<ArrayBuffer>; headers: HeaderList }> {
  const takes = (encoding: string) =>
    new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(\\.0+)?\\s*(,|$))`, 'i').test(accepted)
  const asset = await stored(name)
  const headers: HeaderList = [
    ['content-type', `${TYPES[name.replace(/^.*\./, '')]}; charset=utf-8`],
    ['vary', 'accept-encoding'],
  ]
  if (version === (await versions(name))) headers.push(['cache-control', FOR_EVER])
  const as = (encoding: string): HeaderList => [...headers, ['content-encoding', encoding]]
  if (asset.encoding === 'br' && takes('br')) return { bytes: asset.bytes, headers: as('br') }
  if (takes('gzip')) return { bytes: await gzipped(name), headers: as('gzip') }
  return { bytes: await unpacked(name), headers }
}

async function plain({ bytes, encoding }: StoredAsset): Promise<Uint8Array<ArrayBuffer>> {
  return encoding === 'br' ? promisify(brotliDecompress)(bytes) : bytes
}

/** What is made of a file once, when it is first asked for; what failed is tried again. */
function kept<made>(make: (name: AssetName) => Promise<made>): (name: AssetName) => Promise<made> {
  const all = new Map<AssetName, Promise<made>>()
  return (name) => {
    const found = all.get(name)
    if (found) return found
    const making = make(name)
    all.set(name, making)
    making.catch(() => all.delete(name))
    return making
  }
}

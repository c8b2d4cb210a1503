import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliDecompress, gzip } from 'node:zlib'
import type { HeaderList } from './answer.ts'
import { type StoredAsset, storedAsset } from './asset-source.ts'
import { Failure } from './errors.ts'

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css',
  html: 'text/html',
  js: 'text/javascript',
  svg: 'image/svg+xml',
}

/**
 * How long browsers keep it: for ever, as its name changes with it; for ever if this is the version that was asked for; or
 * until they have asked whether it is still the same.
 */
type Keeping = { as: 'named' } | { as: 'version'; version: string | undefined } | { as: 'checked' }

/** An answer that is a file, as it is; `not_found` where there is none of that name. */
export class AssetAnswer {
  readonly name: string
  readonly keeping: Keeping

  constructor(name: string, keeping: Keeping) {
    this.name = name
    this.keeping = keeping
  }
}

const FOR_EVER = 'public, max-age=31536000, immutable'

/** Browsers ask for it where the connection is in clear. */
const gzipped = kept(async (asset) => promisify(gzip)(await unpacked(asset)))
const unpacked = kept(async ({ bytes, encoding }) => (encoding === 'br' ? promisify(brotliDecompress)(bytes) : bytes))
const versionOf = kept(async ({ bytes }) => createHash('sha256').update(bytes).digest('hex').slice(0, 12))

/** The address of a file, from the folder in which it is served. */
export async function assetAddress(folder: string, name: string): Promise<string> {
  return `${folder}/${name}?v=${await versionOf(await stored(name))}`
}

/** What the request says of what it takes, and of what it has. */
interface Asked {
  acceptEncoding: string | undefined
  ifNoneMatch: string | undefined
}

/** The file for who asks so, or that it has not changed; and the headers that go with it. */
export async function encoded(
  { name, keeping }: AssetAnswer,
  { acceptEncoding = '', ifNoneMatch }: Asked,
): Promise<{ body: Uint8Array<ArrayBuffer> | null; status: 200 | 304; headers: HeaderList }> {
  const asset = await stored(name)
  const version = await versionOf(asset)
  const headers: HeaderList = [
    ['content-type', `${TYPES[name.replace(/^.*\./, '')]}; charset=utf-8`],
    ['vary', 'accept-encoding'],
  ]
  // Of the version that was asked for alone: another instance may have named one that is not here, or is here no more.
  if (keeping.as === 'named' || (keeping.as === 'version' && keeping.version === version))
    headers.push(['cache-control', FOR_EVER])
  if (keeping.as === 'checked') {
    headers.push(['cache-control', 'no-cache'], ['etag', `W/"${version}"`])
    if (ifNoneMatch?.includes(`"${version}"`)) return { body: null, status: 304, headers }
  }
  const takes = (encoding: string) =>
    new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(\\.0+)?\\s*(,|$))`, 'i').test(acceptEncoding)
  const as = (encoding: string): HeaderList => [...headers, ['content-encoding', encoding]]
  if (asset.encoding === 'br' && takes('br')) return { body: asset.bytes, status: 200, headers: as('br') }
  if (takes('gzip')) return { body: await gzipped(asset), status: 200, headers: as('gzip') }
  return { body: await unpacked(asset), status: 200, headers }
}

async function stored(name: string): Promise<StoredAsset> {
  const asset = await storedAsset(name)
  if (!asset) throw new Failure('not_found')
  return asset
}

/** What is made of a file once, when it is first asked for; what failed is tried again. */
function kept<made>(make: (asset: StoredAsset) => Promise<made>): (asset: StoredAsset) => Promise<made> {
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

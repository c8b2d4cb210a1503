import type { StoredAsset } from '../platform/asset-files.ts'
import { gzipped, unpacked, versionOf } from '../platform/asset-forms.ts'
import { storedAsset } from '../platform/asset-source.ts'
import type { HeaderList } from './answer.ts'
import { fail } from './errors.ts'

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css',
  html: 'text/html',
  js: 'text/javascript',
  svg: 'image/svg+xml',
}

/**
 * The caching of a file by browsers. `named`: forever, because the name contains a hash. `version`: forever if the
 * requested version is the current one. `checked`: revalidated before each use.
 */
type Caching = { as: 'named' } | { as: 'version'; version: string | undefined } | { as: 'checked' }

/** A response that is a stored file. Encoding it throws `not_found` for an unknown name. */
export class AssetAnswer {
  readonly name: string
  readonly caching: Caching

  constructor(name: string, caching: Caching) {
    this.name = name
    this.caching = caching
  }
}

const FOR_EVER = 'public, max-age=31536000, immutable'

/** The versioned URL of a file below the folder it is served from. */
export async function assetAddress(folder: string, name: string): Promise<string> {
  return `${folder}/${name}?v=${await versionOf(await stored(name))}`
}

/** The request headers that choose the encoding and revalidate a cached copy. */
interface Asked {
  acceptEncoding: string | undefined
  ifNoneMatch: string | undefined
}

/** Returns the file in an encoding that the client accepts, or a 304, with the headers for it. */
export async function encoded(
  { name, caching }: AssetAnswer,
  { acceptEncoding = '', ifNoneMatch }: Asked,
): Promise<{ body: Uint8Array<ArrayBuffer> | null; status: 200 | 304; headers: HeaderList }> {
  const asset = await stored(name)
  const version = await versionOf(asset)
  const headers: HeaderList = [
    ['content-type', `${TYPES[name.replace(/^.*\./, '')]}; charset=utf-8`],
    ['vary', 'accept-encoding'],
  ]
  // During an upgrade, another instance may link to a version that this instance does not have. The file is served all
  // the same, but not cached as that version.
  if (caching.as === 'named' || (caching.as === 'version' && caching.version === version))
    headers.push(['cache-control', FOR_EVER])
  if (caching.as === 'checked') {
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
  if (!asset) throw fail('not_found')
  return asset
}

// Embeds the static files of the service in the outputs of build.mjs: the panel, and those of platform/asset-files.ts.
import { readFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'

/** Returns each file by name, compressed for browsers, and the sources of all files. */
export async function assets() {
  const { ASSET_FILES } = await import('../platform/asset-files.ts')
  const { buildPanel } = await import('./panel.ts')
  const { files, inputs } = await buildPanel()
  const contents = [...Object.entries(ASSET_FILES).map(([name, path]) => [name, readFileSync(path)]), ...files]
  // The highest quality takes twenty times as long and saves a tenth.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
  const compressed = contents.map(([name, content]) => ({ name, bytes: brotliCompressSync(content, { params }) }))
  return { files: compressed, sources: [...Object.values(ASSET_FILES), ...inputs] }
}

/** The files as text, for a build that is a single file. Each is decoded at its first request. */
export const inText = ({ files }) => `
  const texts = new Map([${files.map(({ name, bytes }) => `['${name}', () => '${bytes.toString('base64')}']`).join(',\n')}])
  ${storedAsset("Buffer.from(texts.get(name)(), 'base64')")}`

/** The files as binary assets of the executable. */
export const inExecutable = ({ files }) => `
  import { getRawAsset } from 'node:sea'
  const texts = new Set(${JSON.stringify(files.map(({ name }) => name))})
  ${storedAsset('new Uint8Array(getRawAsset(name))')}`

const storedAsset = (read) => `
  const taken = new Map()
  export const storedAsset = async (name) => {
    if (!taken.has(name) && texts.has(name)) taken.set(name, { bytes: ${read}, encoding: 'br' })
    return taken.get(name)
  }`

/** Replaces the module that reads the files from the project's folder with `contents`. */
export const instead = (contents) => ({
  name: 'assets',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]platform[\\/]asset-source\.ts$/ }, () => ({ contents }))
  },
})

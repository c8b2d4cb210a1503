// The files that are served as they are, inside of what build.mjs makes: the panel, and those of platform/asset-files.ts.
import { readFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'

/** Each file, compressed as browsers take it, by its name; and the sources that they were made of. */
export async function assets() {
  const { ASSET_FILES } = await import('../platform/asset-files.ts')
  const { buildPanel } = await import('./panel.ts')
  const { files, inputs } = await buildPanel()
  const contents = [...Object.entries(ASSET_FILES).map(([name, path]) => [name, readFileSync(path)]), ...files]
  // The best takes twenty times as long and saves a tenth.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
  const compressed = contents.map(([name, content]) => ({ name, bytes: brotliCompressSync(content, { params }) }))
  return { files: compressed, sources: [...Object.values(ASSET_FILES), ...inputs] }
}

/** As text, where there is but one file. Each is made into bytes when it is first asked for. */
export const inText = ({ files }) => `
  const texts = new Map([${files.map(({ name, bytes }) => `['${name}', () => '${bytes.toString('base64')}']`).join(',\n')}])
  ${storedAsset("Buffer.from(texts.get(name)(), 'base64')")}`

/** As bytes beside the code, in the executable. */
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

/** Puts `contents` in the place of what reads the files from the project's folder. */
export const instead = (contents) => ({
  name: 'assets',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]platform[\\/]asset-source\.ts$/ }, () => ({ contents }))
  },
})

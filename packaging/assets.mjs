// The files that are served as they are (runtime/asset-files.ts), inside of what build.mjs makes.
import { readFileSync } from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'

/** Each file, compressed as browsers take it, by its name. */
export async function assets() {
  const { ASSET_FILES } = await import('../runtime/asset-files.ts')
  return Object.entries(ASSET_FILES).map(([name, path]) => {
    const content = readFileSync(path)
    // The best takes twenty times as long and saves a tenth.
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
    return { name, path, bytes: brotliCompressSync(content, { params }) }
  })
}

/** As text, where there is but one file. */
export const inText = (found) => `
  const texts = { ${found.map(({ name, bytes }) => `'${name}': () => '${bytes.toString('base64')}'`).join(',\n')} }
  export const storedAsset = async (name) => ({ bytes: Buffer.from(texts[name](), 'base64'), encoding: 'br' })`

/** As bytes beside the code, in the executable. */
export const inExecutable = () => `
  import { getRawAsset } from 'node:sea'
  export const storedAsset = async (name) => ({ bytes: new Uint8Array(getRawAsset(name)), encoding: 'br' })`

/** Puts `contents` in the place of what reads the files from the project's folder. */
export const instead = (contents) => ({
  name: 'assets',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]runtime[\\/]asset-source\.ts$/ }, () => ({ contents }))
  },
})

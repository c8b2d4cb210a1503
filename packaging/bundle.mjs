// What build.mjs makes its files of: one module of all that an entry needs. Paths are from the project's folder.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'esbuild'

export const ADDON = `node_modules/@libsql/linux-${process.arch}-gnu/index.node`
/** The addon's name inside the executable. */
export const ASSET = 'libsql.node'

/** libSQL looks for its addon with a computed `require`, which no bundler can follow: that one function is replaced. */
export const libsql = (addon) => ({
  name: 'libsql',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[\\/]libsql[\\/]index\.js$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8')
        .replace(/^const \{ load, currentTarget \} = .*\n/m, '')
        .replace(/^const \{ familySync.*\n/m, '')
        .replace(
          /^function requireNative\(\) \{\n[\s\S]*?\n\}\n/m,
          "const requireNative = () => require('libsql-native')\n",
        )
      if (!contents.includes("'libsql-native'") || /neon-rs|detect-libc|currentTarget|familySync/.test(contents))
        throw new Error(`${path} has changed: adapt build.mjs`)
      return { contents }
    })
    onResolve({ filter: /^libsql-native$/ }, () => ({
      path: fileURLToPath(new URL('./libsql-native.cjs', import.meta.url)),
    }))
    onResolve({ filter: /^libsql-addon$/ }, () => ({ path: 'addon', namespace: 'libsql' }))
    onLoad({ filter: /./, namespace: 'libsql' }, () => ({ contents: addon(), resolveDir: '.' }))
  },
})

/** What ssh2 and ws use when it is there: their `try { require(…) }` must not find one beside the file by chance. */
const absent = {
  name: 'absent',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /\.node$|^(cpu-features|bufferutil|utf-8-validate)$/ }, ({ path }) => ({
      path,
      namespace: 'absent',
    }))
    onLoad({ filter: /./, namespace: 'absent' }, ({ path }) => ({ contents: `throw new Error('${path} is left out')` }))
    // dockerode's sessions, for builds that sign in to a registry, take a megabyte of gRPC. pino's transports, which write from
    // another thread, are not used, and would be loaded at each start all the same.
    onLoad(
      { filter: /[\\/](dockerode[\\/]lib[\\/]session|thread-stream[\\/]index|pino-abstract-transport[\\/]index)\.js$/ },
      ({ path }) => ({
        contents: `module.exports = () => { throw new Error('${basename(dirname(path))} is left out') }`,
      }),
    )
    // zod brings what it says in fifty languages; the one that is spoken is imported by itself.
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: '' }))
    // HTTP/2 is not served, but the adapter asks of each request whether it came by that.
    onResolve({ filter: /^node:http2$/ }, () => ({ path: 'http2', namespace: 'unused' }))
    onLoad({ filter: /./, namespace: 'unused' }, () => ({
      contents: 'export class Http2ServerRequest {}\nexport const constants = {}',
    }))
  },
}

/** Leaves what opens local databases out. */
export const withoutAddon = {
  name: 'without-addon',
  setup({ onResolve }) {
    onResolve({ filter: /^libsql$/ }, ({ path }) => ({ path, namespace: 'absent' }))
  },
}

/** Inside the one file: as text, compressed. */
export function inlined() {
  const bytes = readFileSync(ADDON)
  // Quality 10 takes 14 s instead of 2 and saves 8 %. Not zstd: Node 20 cannot read it.
  const text = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }).toString('base64')
  return `exports.sha256 = '${sha256(bytes)}'
    exports.read = () => require('node:zlib').brotliDecompressSync(Buffer.from('${text}', 'base64'))`
}

/** Inside the executable: as bytes, which the system maps into memory when they are read. */
export function asset() {
  return `exports.sha256 = '${sha256(readFileSync(ADDON))}'
    exports.read = () => new Uint8Array(require('node:sea').getRawAsset('${ASSET}'))
    exports.written = addon`
}

export function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The packages in CommonJS need `require`; ssh2's poly1305 also `__dirname`, for a path that it never opens. */
const BANNER =
  "#!/usr/bin/env node\nimport{createRequire as __cr}from'node:module';const require=__cr(import.meta.url),__dirname='/';"

/** One module of all that `entry` needs; `target` is what it has to run on. */
export async function bundle(entry, target, format, plugins) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    lineLimit: 500, // an uncaught error prints its whole line
    platform: 'node',
    target,
    format,
    // The executable reads its bundle as Latin-1. esbuild writes every other character as an escape, which the raw text of a
    // tagged template cannot have: such a template becomes a call.
    ...(format === 'cjs' && { supported: { 'template-literal': false } }),
    legalComments: 'none',
    logLevel: 'warning',
    plugins: [...plugins, absent],
    define: { 'process.env.OPS_PANEL_VERSION': JSON.stringify(version) },
    ...(format === 'esm' && { banner: { js: BANNER } }),
    // For the sources only: what is made here knows its version.
    logOverride: { 'empty-import-meta': 'silent' },
  })
  return outputFiles[0].contents
}

/** Adds the folders of the packages that files of a bundle are from. */
export const listing = (packages) => ({
  name: 'listing',
  setup({ initialOptions, onEnd }) {
    initialOptions.metafile = true
    onEnd(({ metafile }) => {
      for (const file of Object.keys(metafile?.inputs ?? {})) addPackage(packages, file)
    })
  },
})

export function addPackage(packages, file) {
  const [folder] = /node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []
  if (folder !== undefined) packages.add(folder)
}

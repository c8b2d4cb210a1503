// Bundles an entry and its imports into one module, for build.mjs. Paths are relative to the project's folder.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'esbuild'

export const ADDON = `node_modules/@libsql/linux-${process.arch}-gnu/index.node`
/** The addon's name inside the executable. */
export const ASSET = 'libsql.node'

/** Replaces the function with which libSQL finds its addon: no bundler can follow its computed `require`. */
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

/**
 * Leaves out modules that the service does not use. ssh2 and ws try to load theirs with `require`, which must not find
 * a copy that happens to lie beside the file.
 */
const absent = {
  name: 'absent',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /\.node$|^(cpu-features|bufferutil|utf-8-validate)$/ }, ({ path }) => ({
      path,
      namespace: 'absent',
    }))
    onLoad({ filter: /./, namespace: 'absent' }, ({ path }) => ({ contents: `throw new Error('${path} is left out')` }))
    // dockerode's sessions, for builds that sign in to a registry, bring a megabyte of gRPC. pino's transports, which
    // write from another thread, are not used, but every start would load them.
    onLoad(
      { filter: /[\\/](dockerode[\\/]lib[\\/]session|thread-stream[\\/]index|pino-abstract-transport[\\/]index)\.js$/ },
      ({ path }) => ({
        contents: `module.exports = () => { throw new Error('${basename(dirname(path))} is left out') }`,
      }),
    )
    // zod brings its messages in fifty languages; the service imports its own language separately.
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: '' }))
    // The service does not offer HTTP/2, but the adapter checks whether a request came over it.
    onResolve({ filter: /^node:http2$/ }, () => ({ path: 'http2', namespace: 'unused' }))
    onLoad({ filter: /./, namespace: 'unused' }, () => ({
      contents: 'export class Http2ServerRequest {}\nexport const constants = {}',
    }))
  },
}

/** Leaves out the driver for local databases. */
export const withoutAddon = {
  name: 'without-addon',
  setup({ onResolve }) {
    onResolve({ filter: /^libsql$/ }, ({ path }) => ({ path, namespace: 'absent' }))
  },
}

/** The addon as compressed text, for a build that is a single file. */
export function inlined() {
  const bytes = readFileSync(ADDON)
  // Quality 10 takes 14 s instead of 2 and saves 8 %. Not zstd: Node 20 cannot read it.
  const text = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }).toString('base64')
  return `exports.sha256 = '${sha256(bytes)}'
    exports.read = () => require('node:zlib').brotliDecompressSync(Buffer.from('${text}', 'base64'))`
}

/** The addon as an asset of the executable, which the system maps into memory when it is read. */
export function asset() {
  return `exports.sha256 = '${sha256(readFileSync(ADDON))}'
    exports.read = () => new Uint8Array(require('node:sea').getRawAsset('${ASSET}'))
    exports.written = addon`
}

export function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

/** CommonJS packages need `require`. ssh2's poly1305 also reads `__dirname`, for a path that it never opens. */
const BANNER =
  "#!/usr/bin/env node\nimport{createRequire as __cr}from'node:module';const require=__cr(import.meta.url),__dirname='/';"

/** Bundles `entry` and all its imports into one module; `target` is the runtime that it must support. */
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
    // Only the unbundled sources read `import.meta`.
    logOverride: { 'empty-import-meta': 'silent' },
  })
  return outputFiles[0].contents
}

/** Collects the folders of all packages that have a file in the bundle. */
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

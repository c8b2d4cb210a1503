// Makes dist/ops-panel.mjs: the service, its packages and libSQL's native addon in one file that Node >= 20 runs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'esbuild'

const started = performance.now()
const OUTPUT = 'dist/ops-panel.mjs'
const OWN_NODE = 'node_modules/.bin/node'

process.chdir(fileURLToPath(new URL('.', import.meta.url)))
// Outside npm scripts `node` is the machine's own.
if (Number.parseInt(process.versions.node, 10) < 26 && existsSync(OWN_NODE)) {
  const { status } = spawnSync(OWN_NODE, process.argv.slice(1), { stdio: 'inherit' })
  process.exit(status ?? 1)
}

/** libSQL looks for its addon with a computed `require`, which no bundler can follow: that one function is replaced. */
const libsql = {
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
      path: fileURLToPath(new URL('runtime/libsql-native.cjs', import.meta.url)),
    }))
    onResolve({ filter: /^libsql-addon$/ }, () => ({ path: 'addon', namespace: 'libsql' }))
    onLoad({ filter: /./, namespace: 'libsql' }, () => ({ contents: JSON.stringify(addon()), loader: 'json' }))
  },
}

/** What ssh2 and ws use when it is there: their `try { require(…) }` must not find one beside the file by chance. */
const absent = {
  name: 'absent',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /\.node$|^(cpu-features|bufferutil|utf-8-validate)$/ }, ({ path }) => ({
      path,
      namespace: 'absent',
    }))
    onLoad({ filter: /./, namespace: 'absent' }, ({ path }) => ({ contents: `throw new Error('${path} is left out')` }))
    // dockerode's sessions, for builds that sign in to a registry, take a megabyte of gRPC.
    onLoad({ filter: /[\\/]dockerode[\\/]lib[\\/]session\.js$/ }, () => ({
      contents: "module.exports = () => { throw new Error('sessions are left out') }",
    }))
  },
}

function addon() {
  const bytes = readFileSync(`node_modules/@libsql/linux-${process.arch}-gnu/index.node`)
  // Quality 10 takes 14 s instead of 2 and saves 8 %. Not zstd: Node 20 cannot read it.
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
  return { sha256: createHash('sha256').update(bytes).digest('hex'), brotli: brotli.toString('base64') }
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const { outputFiles } = await build({
  entryPoints: ['runtime/main.ts'],
  bundle: true,
  write: false,
  minify: true,
  lineLimit: 500, // an uncaught error prints its whole line
  platform: 'node',
  target: 'node20.11',
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [libsql, absent],
  define: { 'process.env.OPS_PANEL_VERSION': JSON.stringify(version) },
  // The packages in CommonJS need `require`; ssh2's poly1305 also `__dirname`, for a path that it never opens.
  banner: {
    js: "#!/usr/bin/env node\nimport{createRequire as __cr}from'node:module';const require=__cr(import.meta.url),__dirname='/';",
  },
})

const [{ contents }] = outputFiles
mkdirSync('dist', { recursive: true })
// Renamed into place, so that nobody ever starts half a file.
writeFileSync(`${OUTPUT}.${process.pid}`, contents, { mode: 0o755 })
renameSync(`${OUTPUT}.${process.pid}`, OUTPUT)
const seconds = (performance.now() - started) / 1000
console.log(`${OUTPUT}  ${(contents.length / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s`)

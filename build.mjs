/*
 * Builds the shipped files in dist/.
 *
 *     node build.mjs           ops-panel.mjs: the service, its packages and libSQL's native addon in one file, for Node 20
 *                              and newer; and ops-panel-fetch.mjs: the same without the addon, for a function host
 *     node build.mjs fetch     the latter alone
 *     node build.mjs binary    ops-panel: the same with Node in one executable, for a Debian without Node; and
 *                              ops-panel.packages: the folders of the packages inside
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assets, inExecutable, instead, inText } from './packaging/assets.mjs'
import {
  ADDON,
  ASSET,
  addPackage,
  asset,
  bundle,
  inlined,
  libsql,
  listing,
  sha256,
  withoutAddon,
} from './packaging/bundle.mjs'

const OWN_NODE = 'node_modules/.bin/node'

process.chdir(fileURLToPath(new URL('.', import.meta.url)))
// Outside npm scripts `node` is the machine's own.
if (Number.parseInt(process.versions.node, 10) < 26 && existsSync(OWN_NODE)) {
  const { status } = spawnSync(OWN_NODE, process.argv.slice(1), { stdio: 'inherit' })
  process.exit(status ?? 1)
}

/** Has `make` write the file and renames it into place, so that nobody starts an incomplete file. */
async function output(path, make) {
  const started = performance.now()
  const part = `${path}.${process.pid}`
  mkdirSync('dist', { recursive: true })
  try {
    await make(part)
    chmodSync(part, 0o755)
    renameSync(part, path)
  } finally {
    rmSync(part, { force: true })
  }
  const seconds = (performance.now() - started) / 1000
  console.log(`${path}  ${(statSync(path).size / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s`)
}

async function makeFile(path) {
  writeFileSync(
    path,
    await bundle('serve/file.ts', 'node20.11', 'esm', [libsql(inlined), instead(inText(await assets()))]),
  )
}

/** A function host has no disk for a database or an addon. */
async function makeFetch(path) {
  const plugins = [withoutAddon, instead(inText(await assets()))]
  writeFileSync(path, await bundle('serve/fetch.ts', 'node20.11', 'esm', plugins))
}

/**
 * Writes V8's code cache for the start of a bundle. The cache depends on the seed of the hashes, and reused memory may
 * leave random bytes in it. With a fixed seed and enough memory, the first cache that two runs agree on is the same in
 * every build.
 */
function compiled(bundled, folder) {
  const options = ['--random-seed=1', '--min-semi-space-size=128', '--max-semi-space-size=128']
  const [input, result] = ['bundle', 'compiled'].map((name) => join(folder, name))
  writeFileSync(input, bundled)
  let last
  for (let runs = 0; runs < 20; runs += 1) {
    const words = [...options, 'packaging/compile.cjs', input, ADDON, result]
    // The compiled functions depend on the kind of stdout and on the environment: both are fixed here.
    execFileSync(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'], env: { TMPDIR: folder } })
    const sum = sha256(readFileSync(result))
    if (sum === last) return
    last = sum
  }
  throw new Error('V8 writes something else each time')
}

/** Node itself with the service inside: https://nodejs.org/api/single-executable-applications.html */
async function makeExecutable(path) {
  const folder = mkdtempSync(join(tmpdir(), 'ops-panel-build-'))
  try {
    const packages = new Set()
    const inside = await assets()
    const { files } = inside
    const plugins = [libsql(asset), instead(inExecutable(inside)), listing(packages)]
    const bundled = Buffer.from(await bundle('serve/main.ts', 'node26', 'cjs', plugins)).toString('latin1')
    if (/[^\0-\x7f]/.test(bundled)) throw new Error('the bundle of the executable has characters beyond ASCII')
    compiled(Buffer.from(`(function (require, __dirname, addon) {${bundled}\n})`, 'latin1'), folder)
    // The executable contains its name, which must not reveal a path of this machine.
    copyFileSync('packaging/executable.cjs', join(folder, 'ops-panel.js'))
    for (const { name, bytes } of files) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), bytes)
    }
    const settings = {
      main: 'ops-panel.js',
      output: resolve(path),
      disableExperimentalSEAWarning: true,
      // Arguments and variables are for the service, not for Node.
      execArgvExtension: 'none',
      // In MiB. A start makes some 20 of garbage: fewer collections take a tenth off it.
      execArgv: ['--min-semi-space-size=16'],
      assets: {
        bundle: 'bundle',
        compiled: 'compiled',
        [ASSET]: resolve(ADDON),
        ...Object.fromEntries(files.map(({ name }) => [name, name])),
      },
    }
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
    execFileSync(process.execPath, ['--build-sea', 'settings.json'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    // The executable ships with their licences.
    for (const file of [ADDON, process.execPath, ...inside.sources]) addPackage(packages, file)
    writeFileSync('dist/ops-panel.packages', `${[...packages].sort().join('\n')}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const [what = 'file'] = process.argv.slice(2)
if (what === 'file') await output('dist/ops-panel.mjs', makeFile)
if (what === 'file' || what === 'fetch') await output('dist/ops-panel-fetch.mjs', makeFetch)
else if (what === 'binary') await output('dist/ops-panel', makeExecutable)
else throw new Error(`node build.mjs [binary | fetch], not ${what}`)

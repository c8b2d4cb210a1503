// Builds the container image from dist/ops-panel:
//   node packaging/image.mjs           writes the image's files to dist/image/, and builds the image with Dockerfile
//   node packaging/image.mjs layout    only writes the files
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const NODE = 'node_modules/.bin/node'
const ADDON = `node_modules/@libsql/linux-${process.arch}-gnu/index.node`
const LAYOUT = 'dist/image'
/** The files of the image that root owns, and those that the account of the service owns. */
const [ROOT, OWN] = [`${LAYOUT}/root`, `${LAYOUT}/own`]
/** The uid of the account; Dockerfile contains it as well. */
const ID = 10001

function layOut() {
  process.umask(0o022)
  rmSync(LAYOUT, { recursive: true, force: true })
  copy('dist/ops-panel', '/usr/bin/ops-panel')
  for (const library of libraries()) copy(library, library)
  // packaging/libsql-native.cjs finds it here, so no writable folder has to be executable.
  const sha256 = createHash('sha256').update(readFileSync(ADDON)).digest('hex')
  copy(ADDON, `/usr/lib/ops-panel/libsql-${sha256.slice(0, 16)}.node`)
  write('/etc/passwd', 'root:x:0:0::/root:/', `ops-panel:x:${ID}:${ID}::/var/lib/ops-panel:/`)
  write('/etc/group', 'root:x:0:', `ops-panel:x:${ID}:`)
  write('/etc/nsswitch.conf', 'passwd: files', 'group: files', 'hosts: files dns')
  folder(`${ROOT}/tmp`, 0o1777)
  folder(`${OWN}/ops-panel`, 0o700)
  // The same sources and libraries give the same files.
  for (const path of readdirSync(LAYOUT, { recursive: true })) lutimesSync(join(LAYOUT, path), 0, 0)
}

/** The libraries that Node and libSQL's addon are linked against on this machine, including their loader. */
function libraries() {
  const linked = `process.dlopen({ exports: {} }, require('node:path').resolve('${ADDON}'))
    process.report.excludeNetwork = true
    console.log(JSON.stringify(process.report.getReport().sharedObjects))`
  const objects = JSON.parse(execFileSync(NODE, ['-e', linked], { encoding: 'utf8' }))
  const found = objects.filter((path) => /^(\/usr)?\/lib/.test(path))
  // glibc before 2.34 loads these when it resolves a host name.
  const folders = new Set(found.map((path) => dirname(path)))
  const names = ['libnss_dns.so.2', 'libnss_files.so.2', 'libresolv.so.2']
  const later = [...folders].flatMap((path) => names.map((name) => join(path, name)))
  return [...found, ...later.filter((path) => existsSync(path))]
}

function copy(from, to) {
  const place = ROOT + to
  mkdirSync(dirname(place), { recursive: true })
  copyFileSync(from, place)
  chmodSync(place, 0o755)
}

function write(to, ...lines) {
  mkdirSync(dirname(ROOT + to), { recursive: true })
  writeFileSync(ROOT + to, `${lines.join('\n')}\n`)
}

function folder(path, mode) {
  mkdirSync(path, { recursive: true })
  chmodSync(path, mode)
}

/** Dockerfile without its first stage, whose output already exists. */
function lastStage() {
  const [, ...stages] = readFileSync('Dockerfile', 'utf8').split(/^(?=FROM )/m)
  const from = '--from=built /source/'
  const last = stages.at(-1) ?? ''
  if (stages.length !== 2 || !last.includes(from)) throw new Error('Dockerfile has changed: adapt image.mjs')
  return last.replaceAll(from, '')
}

function makeImage() {
  const { name, version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const docker = (args, input) =>
    execFileSync('docker', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'] })
  const label = ['--label', `org.opencontainers.image.version=${version}`]
  docker(['build', '-f', '-', '-t', name, '-t', `${name}:${version}`, ...label, '.'], lastStage())
  const size = docker(['image', 'inspect', '-f', '{{.Size}}', name])
  console.log(`${name}:${version}  ${(Number(size) / 1e6).toFixed(1)} MB`)
}

const [what = 'image'] = process.argv.slice(2)
if (!['image', 'layout'].includes(what)) throw new Error(`node packaging/image.mjs [layout], not ${what}`)
layOut()
if (what === 'image') makeImage()

'use strict'
// libSQL's native addon, for dist/ops-panel.mjs only: build.mjs puts this in the place of libSQL's own search.
// The system loads code from files alone, so the addon needs one for a moment, or for ever where that is not allowed.
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { brotliDecompressSync } = require('node:zlib')
const { sha256, brotli } = require('libsql-addon')

const O_TMPFILE = 0o20000000 | fs.constants.O_DIRECTORY // Node has no name for it; O_DIRECTORY differs between CPUs

const { env } = process
const failures = []
let bytes

module.exports =
  attempt('/dev/shm', unnamed) ?? // may be noexec or absent, in containers above all
  attempt(os.tmpdir(), unnamed) ??
  attempt(path.join(env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'ops-panel'), named) ??
  attempt(path.resolve(env.PANEL_DATA_DIR || 'data'), named) ??
  fail()

function attempt(folder, load) {
  try {
    return load(folder)
  } catch (error) {
    failures.push(`${folder}: ${error.message}`)
  }
}

/** Leaves nothing behind, and nobody else can swap what is loaded. */
function unnamed(folder) {
  const file = fs.openSync(folder, O_TMPFILE | fs.constants.O_RDWR, 0o600)
  try {
    fs.writeFileSync(file, addon())
    return open(`/proc/self/fd/${file}`)
  } finally {
    fs.closeSync(file)
  }
}

/** A file that the next start finds again; it is checked, for a full disk or a power cut may have shortened it. */
function named(folder) {
  const file = path.join(folder, `libsql-${sha256.slice(0, 16)}.node`)
  if (!isIntact(file)) {
    const part = `${file}.${process.pid}`
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    try {
      fs.writeFileSync(part, addon(), { mode: 0o500 })
      fs.renameSync(part, file)
    } finally {
      fs.rmSync(part, { force: true })
    }
  }
  return open(file)
}

function isIntact(file) {
  return fs.existsSync(file) && createHash('sha256').update(fs.readFileSync(file)).digest('hex') === sha256
}

function addon() {
  bytes ??= brotliDecompressSync(Buffer.from(brotli, 'base64'))
  return bytes
}

function open(file) {
  const target = { exports: {} }
  process.dlopen(target, file)
  return target.exports
}

function fail() {
  const tried = failures.map((failure) => `  ${failure}`).join('\n')
  process.stderr.write(`ops-panel : libSQL n’a pu être chargée depuis aucun dossier :\n${tried}\n`)
  process.exit(1)
}

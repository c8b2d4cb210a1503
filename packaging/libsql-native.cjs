'use strict'
// Loads libSQL's native addon in the outputs of build.mjs, where this module replaces libSQL's own search. It loads
// nothing before the first local database is opened. The system loads code only from files, so the addon needs a file:
// a temporary one, or a permanent one where a temporary one is not allowed.
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { sha256, read, written } = require('libsql-addon')

const O_TMPFILE = 0o20000000 | fs.constants.O_DIRECTORY // Node has no name for it; O_DIRECTORY differs between CPUs

module.exports = load()

function load() {
  const { env } = process
  const places = [
    [() => '/dev/shm', unnamed], // may be noexec or absent, in containers above all
    [() => os.tmpdir(), unnamed],
    [() => path.join(env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'ops-panel'), named],
    [() => path.resolve(env.PANEL_DATA_DIR || 'data'), named],
  ]
  const failures = []
  for (const [where, loadFrom] of places) {
    try {
      return loadFrom(where())
    } catch (error) {
      failures.push(error.message)
    }
  }
  throw new Error(`libSQL n’a pu être chargée depuis aucun dossier :\n${failures.map((it) => `  ${it}`).join('\n')}`)
}

/** Leaves no file behind, and nobody else can replace the code before it is loaded. */
function unnamed(folder) {
  // The executable may have written it already.
  const ready = written?.()
  const file = ready ?? fs.openSync(folder, O_TMPFILE | fs.constants.O_RDWR, 0o600)
  try {
    if (ready === undefined) fs.writeFileSync(file, read())
    return open(`/proc/self/fd/${file}`)
  } finally {
    fs.closeSync(file)
  }
}

/** A file that the next start reuses after a check, because a full disk or a power cut may have truncated it. */
function named(folder) {
  const file = path.join(folder, `libsql-${sha256.slice(0, 16)}.node`)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  // The owner of the folder could replace the file after the check, and root would run code of the service's account.
  if (![0, process.getuid()].includes(fs.statSync(folder).uid))
    throw new Error(`${folder} appartient à un autre compte`)
  if (!isIntact(file)) {
    const part = `${file}.${process.pid}`
    try {
      fs.writeFileSync(part, read(), { mode: 0o500 })
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

function open(file) {
  const target = { exports: {} }
  process.dlopen(target, file)
  return target.exports
}

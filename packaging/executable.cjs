'use strict'
// The main file of the executable: runs the bundle, together with what V8 has compiled of it beforehand (compile.cjs).
const { close, constants: flags, openSync, write } = require('node:fs')
const { getRawAsset } = require('node:sea')
const { constants, Script } = require('node:vm')

/** Longer than any start: who has not taken the addon by then has a database elsewhere. */
const KEEP_MS = 30_000

const addon = writeAddon()
const script = new Script(Buffer.from(getRawAsset('bundle')).toString('latin1'), {
  filename: 'ops-panel.js',
  // V8 compiles again what does not fit.
  cachedData: new Uint8Array(getRawAsset('compiled')),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
// ssh2's poly1305 wants a folder, for a path that it never opens.
script.runInThisContext()(require, '/', addon)

/**
 * Has another thread write libSQL's addon into a file without a name while this one loads the rest. Gives what hands the file over,
 * once, if it is whole by then; its taker closes it. A command may need no database: nothing is written for one.
 */
function writeAddon() {
  if (process.argv.length > 2) return undefined
  let file
  try {
    file = openSync('/dev/shm', 0o20000000 | flags.O_DIRECTORY | flags.O_RDWR, 0o600) // O_TMPFILE
  } catch {
    // libsql-native.cjs looks for another place.
    return undefined
  }
  const bytes = new Uint8Array(getRawAsset('libsql.node'))
  let isThere = false
  let late
  write(file, bytes, 0, bytes.length, 0, (error, written) => {
    isThere = !error && written === bytes.length
    late = setTimeout(drop, isThere ? KEEP_MS : 0).unref()
  })
  const drop = () => {
    isThere = false
    close(file)
  }
  return () => {
    if (!isThere) return undefined
    isThere = false
    clearTimeout(late)
    return file
  }
}

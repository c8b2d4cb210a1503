'use strict'
// The main file of the executable: runs the bundle with the code that V8 compiled beforehand (compile.cjs).
const { close, constants: flags, openSync, write } = require('node:fs')
const { getRawAsset } = require('node:sea')
const { constants, Script } = require('node:vm')

/** Longer than any start. A process that has not loaded the addon by then uses a remote database. */
const KEEP_MS = 30_000

const addon = writeAddon()
const script = new Script(Buffer.from(getRawAsset('bundle')).toString('latin1'), {
  filename: 'ops-panel.js',
  // V8 ignores cached code that does not match the bundle.
  cachedData: new Uint8Array(getRawAsset('compiled')),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
// ssh2's poly1305 needs a folder name, for a path that it never opens.
script.runInThisContext()(require, '/', addon)

/**
 * Starts another thread that writes libSQL's addon to an unnamed file while this thread loads the rest. Returns a
 * function that hands over the file once, if it is complete by then; its caller closes the file. Commands, which may
 * need no database, write nothing.
 */
function writeAddon() {
  if (process.argv.length > 2) return undefined
  let file
  try {
    file = openSync('/dev/shm', 0o20000000 | flags.O_DIRECTORY | flags.O_RDWR, 0o600) // O_TMPFILE
  } catch {
    // libsql-native.cjs tries another folder.
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

'use strict'
// The main file of the executable: runs the bundle, together with what V8 has compiled of it beforehand (compile.cjs).
const { getRawAsset } = require('node:sea')
const { constants, Script } = require('node:vm')

const script = new Script(Buffer.from(getRawAsset('bundle')).toString('latin1'), {
  filename: 'ops-panel.js',
  // V8 compiles again what does not fit.
  cachedData: new Uint8Array(getRawAsset('compiled')),
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
// ssh2's poly1305 wants a folder, for a path that it never opens.
script.runInThisContext()(require, '/')

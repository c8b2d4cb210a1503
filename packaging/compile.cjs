'use strict'
// node --random-seed=1 compile.cjs <bundle> <file>: has V8 compile all that a start of the bundle needs before it listens, and
// writes that to the file. Node's own code cache of an executable holds less, what is compiled before anything runs. Without
// the seed, which V8 hashes names with, it would be another one each time.
const { readFileSync, writeFileSync } = require('node:fs')
const { constants, Script } = require('node:vm')

const [bundle, file] = process.argv.slice(2)
const script = new Script(readFileSync(bundle, 'latin1'), {
  filename: 'ops-panel.js',
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
process.argv.splice(1, Infinity, bundle, '--version')
// ssh2's poly1305 wants a folder, for a path that it never opens.
script.runInThisContext()(require, '/')
writeFileSync(file, script.createCachedData())

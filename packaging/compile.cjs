'use strict'
// node <OPTIONS> compile.cjs <bundle> <addon> <file>: starts the bundle and asks it something, and writes to the file what V8 has
// compiled for that. Node's own code cache for executables holds less: what is compiled before anything runs.
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { get } = require('node:http')
const { tmpdir } = require('node:os')
const { join } = require('node:path')
const sea = require('node:sea')
const { constants, Script } = require('node:vm')

const [bundle, addon, file] = process.argv.slice(2)
const data = mkdtempSync(join(tmpdir(), 'ops-panel-compile-'))
process.on('exit', () => rmSync(data, { recursive: true, force: true }))
for (const name of Object.keys(process.env)) if (name.startsWith('PANEL_')) delete process.env[name]
Object.assign(process.env, { PANEL_DATA_DIR: data, PANEL_PORT: '0', PANEL_DEPLOYER: 'none' })
process.argv.splice(1, Infinity, bundle)
// What the executable has inside is a file here.
sea.getRawAsset = () => Uint8Array.from(readFileSync(addon)).buffer

const script = new Script(readFileSync(bundle, 'latin1'), {
  filename: 'ops-panel.js',
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
// Its log: the line that says where it listens is its first one.
process.stdout.write = (line) => {
  const { url } = JSON.parse(line)
  if (url) get(`${url}/api/health`, answered)
  return true
}
script.runInThisContext()(require, '/')

function answered(response) {
  response.resume().once('end', () => {
    if (response.statusCode !== 200) throw new Error(`the service answers ${response.statusCode}`)
    writeFileSync(file, script.createCachedData())
    process.exit(0)
  })
}

'use strict'
// node <OPTIONS> compile.cjs <bundle> <addon> <file>: starts the bundle, sends it a request, and writes the code that
// V8 has compiled by then to the file. Node's own code cache for executables holds only code compiled before the start.
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
// The addon is an asset of the executable, but a file here.
sea.getRawAsset = () => Uint8Array.from(readFileSync(addon)).buffer

const script = new Script(readFileSync(bundle, 'latin1'), {
  filename: 'ops-panel.js',
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
// The first line of the log contains the address.
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

/**
 * `npm run ok`: types, lint and format, all at once; then the build; then the tests without a real host that import what has
 * changed since the main branch, uncommitted changes included. `npm run ok:all` runs `npm test` and `npm run test:whole` instead.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'

const CACHE = 'node_modules/.cache/tsc'
const types = (project, ...more) => {
  const info = `${CACHE}/${project.replaceAll(/\W/g, '-')}.tsbuildinfo`
  return ['tsc', '-p', project, '--noEmit', '--incremental', '--tsBuildInfoFile', info, ...more]
}
const CHECKS = {
  types: types('.'),
  'types of the client': types('client', '--emitDeclarationOnly', 'false'),
  'types of the panel': types('panel'),
  'types of the tests of the panel': types('test/panel'),
  lint: ['biome', 'lint', '.'],
  format: ['biome', 'format', '.'],
}

const all = process.argv[2] === 'all'
const began = performance.now()
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`

mkdirSync(CACHE, { recursive: true })
const verdicts = await Promise.all(Object.entries(CHECKS).map(([name, command]) => check(name, command)))
if (verdicts.includes(false)) process.exit(1)
console.log(`types, lint and format are right: ${seconds(began)}`)

run('npm', ['run', '--silent', 'build'])
if (all) {
  run('npm', ['test'])
  run('npm', ['run', 'test:whole'])
} else {
  const base = mainBranch()
  console.log(`\nthe tests that import what has changed since ${base ?? 'the last commit'}:`)
  // A change of documents alone is imported by no test.
  run('vitest', [
    'run',
    '--passWithNoTests',
    '--project',
    'unit*',
    '--project',
    'whole*',
    base === undefined ? '--changed' : `--changed=${base}`,
  ])
  console.log(
    'Not among them: tests that start the service as a program or read files. `npm run test:whole` runs most of',
  )
  console.log('these, and `npm run test:restarts` those that kill, freeze or replace it.')
}

/** Runs one check, and says how it ended; what it printed only when it failed. */
async function check(name, [program, ...args]) {
  const since = performance.now()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text))
  const code = await new Promise((resolve) => child.on('close', resolve).on('error', (error) => resolve(error.message)))
  console.log(`${code === 0 ? '✓' : '✗'} ${name}, ${seconds(since)}`)
  if (code !== 0) console.log(typeof code === 'string' ? code : printed)
  return code === 0
}

function run(program, args) {
  const { status } = spawnSync(program, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** Where this branch left the main one; undefined where there is no main branch, or no commit beside it. */
function mainBranch() {
  const git = (...args) => spawnSync('git', args, { encoding: 'utf8' }).stdout.trim()
  const head = git('rev-parse', '--short', 'HEAD')
  for (const name of ['origin/main', 'main']) {
    const base = git('merge-base', '--all', 'HEAD', name).split('\n')[0]
    if (base) return head === git('rev-parse', '--short', base) ? undefined : git('rev-parse', '--short', base)
  }
}

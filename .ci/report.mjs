/**
 * Reads the reports that vitest wrote for `.ci/run`.
 *
 *     report.mjs failed FOLDER SUITE     the test files of a suite that failed, one a line; nothing when it has no report,
 *                                        or an error outside of its tests, for which all of it is run again
 *     report.mjs summary FOLDER STATUS   every failure in short, the slowest files, the time and the counts of each suite;
 *                                        exits 1 when the gate failed
 *
 * FOLDER holds `<suite>.json`; `<suite>.json.beside` when an error came up outside of the tests; `<suite>.again.json`
 * when its failed files were run once more; `times` with a line `<suite> <seconds>` for each step; `flaky` with a step a
 * line that failed and passed when it was run once more. STATUS is 0 when every step ended well.
 */
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** Steps without a report that must have ended. */
const STEPS = ['soak']
const SUITES = ['unit', 'whole', 'panel', 'host', 'restarts', 'executable', 'docker', 'package']
/** More than this many files that fail and then pass are no accident any more. */
const MOST_FLAKY = 3

const [command, folder, argument] = process.argv.slice(2)

if (command === 'failed') {
  if (!failedBeside(argument)) for (const name of failedFiles(read(argument))) console.log(name)
} else if (command === 'summary') summary(argument === '0')
else throw new Error('report.mjs failed|summary FOLDER SUITE|STATUS')

/** A report of vitest, or undefined where there is none or it was cut off. */
function read(suite) {
  const file = `${folder}/${suite}.json`
  if (!existsSync(file)) return
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return
  }
}

/** Whether an error came up outside of the tests of a suite: a rerun of its failed files would hide it. */
function failedBeside(suite) {
  return existsSync(`${folder}/${suite}.json.beside`)
}

/** Skipped tests are failures, except in the two suites without a real host: some of those need a system that not everybody has. */
function isFailure(suite, status) {
  return status === 'failed' || (status !== 'passed' && suite !== 'unit' && suite !== 'whole')
}

/** The files in which a test failed, and those that failed before or after their tests. */
function failedFiles(report) {
  const failed = (report?.testResults ?? []).filter(
    ({ status, assertionResults }) => status === 'failed' || assertionResults.some((test) => test.status === 'failed'),
  )
  return failed.map(({ name }) => relative(process.cwd(), name))
}

/** The first lines of what a failed test said, and where. */
function inShort(text) {
  const lines = text.split('\n').map((line) => (line.length > 300 ? `${line.slice(0, 300)}…` : line))
  const isPlace = (line) => /^ +at /.test(line)
  const said = lines.filter((line) => line.trim() !== '' && !isPlace(line)).slice(0, 12)
  const places = lines.filter((line) => isPlace(line) && !line.includes('node_modules')).slice(0, 4)
  return [...said, ...places].join('\n')
}

/** The lines of a file in the folder; none where it does not exist. */
function lines(name) {
  return existsSync(`${folder}/${name}`) ? readFileSync(`${folder}/${name}`, 'utf8').trim().split('\n') : []
}

function printFailures(report) {
  for (const { name, message, assertionResults } of report.testResults) {
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    if (failed.length === 0 && message) console.log(`✗ ${relative(process.cwd(), name)}\n${inShort(message)}\n`)
    for (const test of failed) console.log(`✗ ${test.fullName}\n${inShort(test.failureMessages.join('\n'))}\n`)
  }
}

/** Counts the tests of a suite; a file that passed when it was run once more counts as passed, and is named. */
function countSuite(suite) {
  const report = read(suite)
  if (!report) {
    console.log(`✗ ${suite}: it wrote no report: it could not start, or was cut off; its own lines above say why\n`)
    return { passed: 0, failed: 1, skipped: 0, flaky: [], files: [] }
  }
  printFailures(report)
  const again = read(`${suite}.again`)
  const whole = again !== undefined && failedBeside(suite)
  const failedAgain = new Set(failedFiles(again))
  const ranAgain = new Set((again?.testResults ?? []).map(({ name }) => relative(process.cwd(), name)))
  const failedFirst = failedFiles(report)
  const flaky = failedFirst.filter((name) => ranAgain.has(name) && !failedAgain.has(name))
  // The whole suite, which had failed beside its tests. Its failed files count as well.
  if ((whole || failedFirst.length === 0) && again?.success === true) flaky.push('(all of it)')
  const isFlaky = ({ name }) => flaky.includes(relative(process.cwd(), name))
  const results = whole ? again.testResults : report.testResults.filter((file) => !isFlaky(file))
  if (again && !whole) results.push(...again.testResults.filter(isFlaky))
  const tests = results.flatMap(({ assertionResults }) => assertionResults)
  const broken = results.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => isFailure(suite, test.status)),
  )
  const passed = tests.filter(({ status }) => status === 'passed').length
  let failed = tests.filter(({ status }) => isFailure(suite, status)).length + broken.length
  // A run that says that it failed and shows no failed test: something beside the tests.
  if (failed === 0 && (passed === 0 || (report.success !== true && flaky.length === 0))) failed = 1
  if (failed === 0 && failedBeside(suite) && (!whole || failedBeside(`${suite}.again`))) failed = 1
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed').length
  const files = report.testResults.map(({ name, startTime, endTime }) => ({
    name: `${suite}: ${relative(process.cwd(), name)}`,
    seconds: (endTime - startTime) / 1000,
  }))
  return { passed, failed, skipped, flaky, files }
}

function summary(stepsEndedWell) {
  const counts = SUITES.map((suite) => ({ suite, ...countSuite(suite) }))
  const slowest = counts.flatMap(({ files }) => files).sort((a, b) => b.seconds - a.seconds)
  console.log('the slowest files:')
  for (const { name, seconds } of slowest.slice(0, 10)) console.log(`  ${seconds.toFixed(0).padStart(4)} s  ${name}`)
  console.log('time of each step:')
  const times = lines('times')
  for (const line of times) console.log(`  ${line.replace(/ (\d+)$/, ': $1 s')}`)
  const flaky = counts.flatMap(({ suite, flaky }) => flaky.map((name) => `${suite} ${name}`)).concat(lines('flaky'))
  console.log(`flaky: ${flaky.length === 0 ? 'none' : flaky.join(', ')}`)
  for (const { suite, passed, failed, skipped } of counts)
    console.log(`${suite}: ${passed} passed, ${failed} failed, ${skipped} skipped`)
  const passed = counts.reduce((sum, one) => sum + one.passed, 0)
  let failed = counts.reduce((sum, one) => sum + one.failed, 0)
  if (flaky.length > MOST_FLAKY) {
    console.log(`more than ${MOST_FLAKY} files failed and then passed`)
    failed += flaky.length
  }
  for (const name of STEPS) {
    if (times.some((line) => line.startsWith(`${name} `))) continue
    console.log(`${name}: this step did not end`)
    failed += 1
  }
  if (failed === 0 && !stepsEndedWell) {
    console.log('a step failed beside its tests, see above')
    failed = 1
  }
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

/** `.ci/report.mjs` decides whether the gate passes. These tests plant each kind of failure. */
const REPORT = join(import.meta.dirname, '../.ci/report.mjs')
const SUITES = ['unit', 'whole', 'panel', 'host', 'restarts', 'executable', 'docker', 'package']

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gate-report-'))
  for (const suite of SUITES) report(suite, { 'test/a.test.ts': ['passed'] })
  writeFileSync(join(folder, 'times'), 'soak 60\n')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('all passed: the gate passes, and the last line sums up', () => {
  const { code, last } = summary()
  expect(code).toBe(0)
  expect(last).toBe('8 passed, 0 failed')
})

test('a file that fails and passes in its second run is listed as flaky, and the gate passes', () => {
  report('host', { 'test/a.test.ts': ['passed'], 'test/b.test.ts': ['failed', 'passed'] })
  report('host.again', { 'test/b.test.ts': ['passed', 'passed'] })
  const { code, text, last } = summary()
  expect(code).toBe(0)
  expect(text).toContain('flaky: host test/b.test.ts')
  expect(last).toBe('10 passed, 0 failed')
})

test('a suite that fails beside its tests and passes when it is run once more is named as flaky', () => {
  report('panel.again', { 'test/a.test.ts': ['passed'] })
  expect(summary()).toMatchObject({ code: 0, last: '8 passed, 0 failed' })
  expect(summary().text).toContain('flaky: panel (all of it)')
  report('panel.again', { 'test/a.test.ts': ['passed'] }, [], false)
  expect(summary('1')).toMatchObject({ code: 1, last: '8 passed, 1 failed' })
})

test('a step that fails and passes when it is run once more is listed as flaky', () => {
  writeFileSync(join(folder, 'flaky'), 'soak\n')
  expect(summary()).toMatchObject({ code: 0, last: '8 passed, 0 failed' })
  expect(summary().text).toContain('flaky: soak')
})

test('an error outside of the tests is not forgiven by a rerun of the failed files', () => {
  report('host', { 'test/a.test.ts': ['passed'], 'test/b.test.ts': ['failed'] })
  writeFileSync(join(folder, 'host.json.beside'), 'Error: a listener failed')
  expect(run('failed', folder, 'host').text).toBe('')
  expect(summary().code).toBe(1)
  report('host.again', { 'test/a.test.ts': ['passed'], 'test/b.test.ts': ['passed'] })
  expect(summary()).toMatchObject({ code: 0, last: '9 passed, 0 failed' })
  expect(summary().text).toContain('flaky: host test/b.test.ts, host (all of it)')
  writeFileSync(join(folder, 'host.again.json.beside'), 'Error: a listener failed')
  expect(summary().code).toBe(1)
})

test('more than three flaky files fail the gate, also where an error came up outside of the tests', () => {
  const files = ['b', 'c', 'd', 'e'].map((name) => `test/${name}.test.ts`)
  report('host', Object.fromEntries(files.map((file) => [file, ['failed']])))
  report('host.again', Object.fromEntries(files.map((file) => [file, ['passed']])))
  expect(summary()).toMatchObject({ code: 1, last: '11 passed, 4 failed' })
  writeFileSync(join(folder, 'host.json.beside'), 'Error: a listener failed')
  expect(summary().code).toBe(1)
  expect(summary().text).toContain('more than 3 files failed and then passed')
})

test.each([
  ['a failed test', () => report('unit', { 'test/b.test.ts': ['failed'] })],
  ['a test that fails once more', () => twice(['failed'], ['failed'])],
  ['a test that is skipped when its file is run once more', () => twice(['failed'], ['skipped'])],
  ['a skipped test of a suite that leaves nothing out', () => report('docker', { 'test/b.test.ts': ['skipped'] })],
  ['a file that failed beside its tests', () => report('panel', { 'test/b.test.ts': ['passed'] }, ['test/b.test.ts'])],
  ['a suite without a test', () => report('package', {})],
  ['a suite without a report', () => rmSync(join(folder, 'host.json'))],
  ['a report that was cut off', () => writeFileSync(join(folder, 'host.json'), '{"testResults": [')],
  ['a soak that did not end', () => rmSync(join(folder, 'times'))],
  ['an error outside of every test', () => report('unit', { 'test/b.test.ts': ['passed'] }, [], false)],
])('%s fails the gate', (_, plant) => {
  plant()
  expect(summary().code).toBe(1)
})

test('a suite that could not start is named', () => {
  rmSync(join(folder, 'package.json'))
  expect(summary().text).toContain('✗ package: it wrote no report')
})

test('a step that failed beside its tests fails the gate', () => {
  expect(summary('1').code).toBe(1)
})

test('the failed files of a suite are listed, one per line', () => {
  report('unit', { 'test/a.test.ts': ['passed'], 'test/b.test.ts': ['failed'] }, ['test/c.test.ts'])
  expect(run('failed', folder, 'unit').text).toBe('test/b.test.ts\ntest/c.test.ts\n')
  expect(run('failed', folder, 'docker').text).toBe('')
})

function twice(first: string[], second: string[]): void {
  report('host', { 'test/b.test.ts': first })
  report('host.again', { 'test/b.test.ts': second })
}

function report(suite: string, files: Record<string, string[]>, broken: string[] = [], success?: boolean): void {
  const names = [...new Set([...Object.keys(files), ...broken])]
  const testResults = names.map((name) => {
    const statuses = files[name] ?? []
    return {
      name: join(process.cwd(), name),
      status: broken.includes(name) || statuses.includes('failed') ? 'failed' : 'passed',
      message: '',
      startTime: 0,
      endTime: 1000,
      assertionResults: statuses.map((status) => ({ status, fullName: 'a test', failureMessages: [] })),
    }
  })
  const passes = testResults.every(({ status }) => status === 'passed')
  writeFileSync(join(folder, `${suite}.json`), JSON.stringify({ success: success ?? passes, testResults }))
}

function summary(status = '0') {
  const { code, text } = run('summary', folder, status)
  return { code, text, last: text.trimEnd().split('\n').at(-1) }
}

function run(...args: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [REPORT, ...args], { encoding: 'utf8' })
  return { code: status, text: stdout }
}

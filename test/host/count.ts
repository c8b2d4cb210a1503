/**
 * `count.ts REPORT SUITE [FILE…]`: prints the counts of vitest's report. Fails unless tests ran in every file of the
 * suite, or in every named file, and all of them passed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import * as z from 'zod'

const Report = z.object({
  testResults: z.array(
    z.object({ name: z.string(), assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })) }),
  ),
})

const [report = '', suite = 'host', ...named] = process.argv.slice(2)
const { testResults } = Report.parse(JSON.parse(readFileSync(report, 'utf8')))
const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
const passed = tests.filter(({ status }) => status === 'passed').length
const failed = tests.filter(({ status }) => status === 'failed').length
const leftOut = tests.filter(({ status }) => status !== 'passed' && status !== 'failed')

const ran = new Set(
  testResults.filter(({ assertionResults }) => assertionResults.length > 0).map((file) => basename(file.name)),
)
const files = named.length > 0 ? named.map((file) => basename(file)) : testFiles()
const silent = files.filter((name) => !ran.has(name))

for (const { fullName } of leftOut) console.error(`test:${suite}: not run: ${fullName}`)
for (const name of silent) console.error(`test:${suite}: no test ran in ${name}`)
if (tests.length === 0) console.error(`test:${suite}: no test ran.`)
console.log(`test:${suite}: ${passed} passed, ${failed} failed, ${leftOut.length} skipped`)
if (passed === 0 || failed + leftOut.length + silent.length > 0) process.exitCode = 1

function testFiles(): string[] {
  return readdirSync(new URL(`../${suite}`, import.meta.url)).filter((name) => name.endsWith('.test.ts'))
}

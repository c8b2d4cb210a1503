import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

interface Threat {
  attack: string
  defence: string
  tests: { file: string; title: string }[]
}

/** Returns the rows of the threat table: the attack, the defence, and the tests that show it. */
function threats(text: string): Threat[] {
  const [, table = ''] = text.split('| attack | defence | test |\n')
  const rows = table.split('\n').slice(1)
  return rows
    .slice(0, rows.indexOf(''))
    .map((row) => row.split(' | '))
    .map(([attack = '', defence = '', cell = '']) => ({
      attack: attack.replace(/^\| /, ''),
      defence,
      tests: testsOf(cell),
    }))
}

/** Returns each title of a cell with the file that is named before it. */
function testsOf(cell: string, named = /`(test\/[^`]+)`([^`]*)/g): Threat['tests'] {
  return [...cell.matchAll(named)].flatMap(([, file = '', titles = '']) => {
    const named = [...titles.matchAll(/“([^”]+)”/g)].map(([, title = '']) => ({ file, title }))
    return named.length > 0 ? named : [{ file, title: 'no title is named' }]
  })
}

/** Returns the errors of a row: it names no test, or a missing one. */
function wrongs({ attack, defence, tests }: Threat): string[] {
  const missing = tests.filter(({ file, title }) => !existsSync(join(ROOT, file)) || !read(file).includes(title))
  return [
    ...(attack === '' || defence === '' ? [`a row is not whole: ${attack}`] : []),
    ...(tests.length === 0 ? [`no test: ${attack}`] : []),
    ...missing.map(({ file, title }) => `no such test: ${file} “${title}”`),
  ]
}

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

test('each attack of SECURITY.md has a defence, and a test that exists', () => {
  const found = threats(read('SECURITY.md'))

  expect(found.length).toBeGreaterThan(20)
  expect(found.flatMap(wrongs)).toEqual([])
})

test.each([
  ['without a test', '| a | b | later |'],
  ['without a defence', '| a |  | `test/security.test.ts` “each attack” |'],
  ['with a file that is not there', '| a | b | `test/nothing.test.ts` “each attack” |'],
  ['with a title that is not there', '| a | b | `test/app.ts` “no such title” |'],
  ['with a second title that is not there', '| a | b | `test/app.ts` “The real pipeline”, “no such title” |'],
  ['with a file without a title', '| a | b | `test/app.ts` |'],
])('the check finds a row %s', (_, row) => {
  const found = threats(`| attack | defence | test |\n| --- | --- | --- |\n${row}\n\n`)

  expect(found).toHaveLength(1)
  expect(found.flatMap(wrongs)).not.toEqual([])
})

/** Requirements of levels 1 and 2 in the chapters V6, V7 and V8 of the OWASP ASVS 5.0.0: section and number of the last one. */
const ASVS: readonly (readonly [section: string, last: number])[] = [
  ...([
    ['6.1', 3],
    ['6.2', 12],
    ['6.3', 4],
    ['6.4', 4],
    ['6.5', 5],
    ['6.6', 3],
    ['6.8', 4],
  ] as const),
  ...([
    ['7.1', 3],
    ['7.2', 4],
    ['7.3', 2],
    ['7.4', 5],
    ['7.5', 2],
    ['7.6', 2],
  ] as const),
  ...([
    ['8.1', 2],
    ['8.2', 3],
    ['8.3', 1],
    ['8.4', 1],
  ] as const),
]
const REQUIREMENTS = ASVS.flatMap(([section, last]) => Array.from({ length: last }, (_, n) => `${section}.${n + 1}`))

/** Returns the rows of the tables of the standard: the requirement, and what shows it. */
function requirements(text: string): { id: string; shown: string }[] {
  const [, tables = ''] = text.split('## OWASP ASVS')
  return [...tables.matchAll(/^\| (\d+\.\d+\.\d+) .*\| ([^|]*) \|$/gm)].map(([, id = '', shown = '']) => ({
    id,
    shown,
  }))
}

/** The requirements that ask for documentation: a text shows them. */
const DOCUMENTATION = /^[678]\.1\./

/** A requirement has tests that exist, or the reason why it does not apply. */
function isShown({ id, shown }: { id: string; shown: string }): boolean {
  if (/^not applicable: \S/.test(shown)) return true
  const tests = testsOf(shown, DOCUMENTATION.test(id) ? /`((?:test|docs)\/[^`]+)`([^`]*)/g : undefined)
  return (
    tests.length > 0 && tests.every(({ file, title }) => existsSync(join(ROOT, file)) && read(file).includes(title))
  )
}

test('each requirement of the ASVS is in SECURITY.md once, with a test or the reason why it does not apply', () => {
  const found = requirements(read('SECURITY.md'))

  expect(found.map(({ id }) => id)).toEqual(REQUIREMENTS)
  expect(found.filter((each) => !isShown(each))).toEqual([])
})

test.each([
  ['7.4.1', ''],
  ['7.4.1', 'later'],
  ['7.4.1', 'not applicable: '],
  ['7.4.1', '`test/nothing.test.ts` “each attack”'],
  ['7.4.1', '`test/app.ts`'],
  ['7.4.1', '`test/app.ts` “no such title”'],
  ['7.4.1', '`test/app.ts` “The real pipeline”, “no such title”'],
  ['7.4.1', '`docs/access.md` “## All operations”'],
  ['7.1.1', '`docs/access.md` “no such text”'],
])('a requirement %s that is shown by %j is found', (id, shown) => {
  expect(isShown({ id, shown })).toBe(false)
})

test('a text shows a requirement of documentation', () => {
  expect(isShown({ id: '8.1.1', shown: '`docs/access.md` “## All operations”' })).toBe(true)
})

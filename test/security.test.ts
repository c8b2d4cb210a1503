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
function testsOf(cell: string): Threat['tests'] {
  return [...cell.matchAll(/`(test\/[^`]+)`([^`]*)/g)].flatMap(([, file = '', titles = '']) => {
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

import { expect, test } from 'vitest'
import { parseEnvironmentFile } from '../../serve/installed.ts'

test.each([
  ['a value to the end of its line', 'A=1\nB=two words\n', { A: '1', B: 'two words' }],
  ['no line end at the end', 'A=1', { A: '1' }],
  ['an empty value', 'A=\nB= \nC=""', { A: '', B: '', C: '' }],
  ['the last of two', 'A=1\nA=2\n', { A: '2' }],
  ['comments and empty lines', '# A=1\n;A=1\n\n  # A=1\nB=1', { B: '1' }],
  ['a # within a value, which begins no comment', 'A=pass#word # more', { A: 'pass#word # more' }],
  ['white space around name and value', '  A = 1  \r\nB=2\t', { A: '1', B: '2' }],
  ['single quotes, where nothing has a meaning', `A='x\\n"$y '`, { A: 'x\\n"$y ' }],
  ['double quotes, with every escape', 'A=" \\"q\\" \\$x \\\\ \\n "', { A: ' "q" $x \\ \\n ' }],
  ['quotes over several lines', "KEY='-----BEGIN\nabc=\n-----END'\nB=1", { KEY: '-----BEGIN\nabc=\n-----END', B: '1' }],
  ['quotes after quotes', `A='a'"b" c`, { A: 'abc' }],
  ['quotes in the middle, which are part of it', `A=it's "so"`, { A: `it's "so"` }],
  ['a backslash before any character, and a continued line', 'A=a\\b\\\\c\\ \nB=1\\\n2', { A: 'ab\\c ', B: '12' }],
  ['a $ as itself', 'A=$HOME/$(x)', { A: '$HOME/$(x)' }],
  ['lines that assign no variable', 'nonsense\nexport A=1\n1A=2\n=3\nB=1', { B: '1' }],
])('reads %s', (_, text, variables) => {
  expect(parseEnvironmentFile(text)).toEqual(variables)
})

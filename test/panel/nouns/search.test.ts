import { array, assert, constantFrom, property } from 'fast-check'
import { expect, test } from 'vitest'
import { createLines } from '../../../panel/nouns/lines.ts'
import { createFinder, segmentsOf } from '../../../panel/nouns/search.ts'

test('matches grow with the output, including the incomplete last line', () => {
  const lines = createLines()
  const find = createFinder(lines)
  lines.feed('openssl\ncurl\nOpen')
  expect(find('openssl')).toEqual([0])
  lines.feed('SSL')
  expect(find('openssl')).toEqual([0, 2])
  lines.feed('\rnothing else\nopenssl\n')
  expect(find('openssl')).toEqual([0, 3])
  expect(find('curl')).toEqual([1])
  expect(find('')).toEqual([])
})

test('dropped lines no longer match, and the others keep their numbers', () => {
  const lines = createLines({ mostLines: 10 })
  const find = createFinder(lines)
  lines.feed('x\n'.repeat(8))
  expect(find('x')).toHaveLength(8)
  lines.feed('x\n'.repeat(8))
  expect(find('x')).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
})

test('an incremental search finds the same as a search at the end', () => {
  assert(
    property(array(constantFrom('a', 'b', '\n', '\r', 'ab\n', '\b'), { maxLength: 60 }), (pieces) => {
      const lines = createLines({ mostLines: 6 })
      const find = createFinder(lines)
      for (const piece of pieces) {
        lines.feed(piece)
        find('ab')
      }
      expect(find('ab')).toEqual(createFinder(lines)('ab'))
    }),
  )
})

test('matches are marked across colours', () => {
  expect(
    segmentsOf(
      {
        text: 'a curl b curl',
        spans: [
          { text: 'a cu', style: 1 },
          { text: 'rl b curl', style: 0 },
        ],
      },
      'CURL',
    ),
  ).toEqual([
    { text: 'a ', style: 1, isFound: false },
    { text: 'cu', style: 1, isFound: true },
    { text: 'rl', style: 0, isFound: true },
    { text: ' b ', style: 0, isFound: false },
    { text: 'curl', style: 0, isFound: true },
  ])
})

test('the parts of a line join to the line, even when lower case is longer than upper case', () => {
  for (const text of ['İstanbul ist', 'aaa', 'x'.repeat(16_384), '']) {
    for (const query of ['ist', 'aa', 'x', '']) {
      const parts = segmentsOf({ text }, query)
      expect(parts.map((part) => part.text).join('')).toBe(text)
    }
  }
})

test('marks in a long line are limited to its beginning', () => {
  const parts = segmentsOf({ text: 'xy'.repeat(8_000) }, 'x')
  expect(parts.filter(({ isFound }) => isFound)).toHaveLength(200)
  expect(parts.length).toBeLessThan(500)
})

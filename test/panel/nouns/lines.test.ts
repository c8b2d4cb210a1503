import { array, assert, constantFrom, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { classesOf } from '../../../panel/nouns/ansi.ts'
import { createLines } from '../../../panel/nouns/lines.ts'

function shown(...chunks: string[]): string[] {
  const lines = createLines()
  for (const chunk of chunks) lines.feed(chunk)
  return Array.from({ length: lines.count() }, (_, n) => lines.at(n).text)
}

function spans(...chunks: string[]) {
  const lines = createLines()
  for (const chunk of chunks) lines.feed(chunk)
  return lines.at(0).spans?.map(({ text, style }) => [text, classesOf(style)])
}

test('lines end with \\n or \\r\\n; the last one may have no end', () => {
  expect(shown('one\ntwo\r\n\nfour')).toEqual(['one', 'two', '', 'four'])
})

test('a carriage return starts the line again, as in dpkg’s progress', () => {
  expect(
    shown('(Reading database ... \r(Reading ', 'database ... 5%\r(Reading database ... 100%\r\nUnpacking'),
  ).toEqual(['(Reading database ... 100%', 'Unpacking'])
})

test('overwriting a longer line keeps its end, unless it is erased', () => {
  expect(shown('abcdef\rXY')).toEqual(['XYcdef'])
  expect(shown('abcdef\rXY\u001b[K')).toEqual(['XY'])
  expect(shown('abc\b\bX')).toEqual(['aXc'])
  expect(shown('a\tb')).toEqual(['a       b'])
})

test('colours become classes across chunks and lines; other sequences are dropped', () => {
  expect(spans('a\u001b[1;3', '1mred\u001b[0m b')).toEqual([
    ['a', ''],
    ['red', 'hue-1 bold'],
    [' b', ''],
  ])
  const lines = createLines()
  lines.feed('\u001b[32mone\ntwo\u001b[39m')
  expect(lines.at(1).spans).toEqual([{ text: 'two', style: 2 }])
  expect(shown('\u001b]0;a title\u0007x\u001b[2J\u001b[?25ly\u001b(Bz')).toEqual(['xyz'])
})

test.each([
  ['38;5;9', 'hue-1'],
  ['38;5;46', 'hue-2'],
  ['38;2;20;20;250', 'hue-4'],
  ['38;2;200;180;10', 'hue-3'],
  ['30', 'hue-8'],
  ['97', 'hue-7'],
  ['48;2;1;2;3;4', 'underlined'],
  ['7;2', 'faint inverse'],
])('SGR %s is %s', (parameters, classes) => {
  expect(spans(`\u001b[${parameters}mx`)).toEqual([['x', classes]])
})

test('chunk boundaries do not change the lines', () => {
  const piece = constantFrom(
    '\u001b[31m',
    '\u001b[0m',
    '\r\n',
    '\r',
    '\n',
    'text ',
    '\u001b[K',
    '\u001b]0;t\u0007',
    'é',
    '\b',
    '\t',
    '\u001b',
  )
  assert(
    property(array(piece, { maxLength: 40 }), array(string({ maxLength: 3 })), (pieces, noise) => {
      const all = pieces.join('') + noise.join('')
      const whole = createLines()
      whole.feed(all)
      const cut = createLines()
      for (const unit of all) cut.feed(unit)
      expect(Array.from({ length: cut.count() }, (_, n) => cut.at(n))).toEqual(
        Array.from({ length: whole.count() }, (_, n) => whole.at(n)),
      )
    }),
  )
})

test('a very long output drops its oldest lines and counts them', () => {
  const lines = createLines({ mostLines: 1000 })
  for (let n = 0; n < 5000; n += 1) lines.feed(`line ${n}\n`)
  lines.feed('the last')

  expect([lines.count(), lines.dropped()]).toEqual([1001, 4000])
  expect([lines.at(0).text, lines.at(999).text, lines.at(1000).text]).toEqual(['line 4000', 'line 4999', 'the last'])
  expect(lines.text().split('\n')).toHaveLength(1001)
})

test('the number of characters is limited, in total and in a line without an end', () => {
  const lines = createLines({ mostCharacters: 100_000 })
  for (let n = 0; n < 100; n += 1) lines.feed(`${'x'.repeat(10_000)}\n`)
  expect(lines.text().length).toBeLessThanOrEqual(100_100)
  const one = createLines()
  for (let n = 0; n < 10; n += 1) one.feed('y'.repeat(10_000))
  expect(one.at(0).text).toHaveLength(16_384)
})

test('an unfinished sequence holds back a limited number of characters', () => {
  const lines = createLines()
  lines.feed(`\u001b]0;${'t'.repeat(5_000)}\nnext`)
  expect(lines.at(lines.count() - 1).text).toBe('next')
})

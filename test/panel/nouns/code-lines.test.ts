import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type CodeLine, codeLines, comparedLines, legible, partsOf, unseenIn } from '../../../panel/nouns/code-lines.ts'

test('every line has its number, and a long one goes on in rows without one', () => {
  expect(codeLines('a\n\nb\n')).toEqual([
    { number: 1, text: 'a' },
    { number: 2, text: '' },
    { number: 3, text: 'b' },
  ])
  const rows = codeLines(`${'x'.repeat(2_500)}\ny`)
  expect(rows.map(({ number, text }) => [number, text.length])).toEqual([
    [1, 1_000],
    [undefined, 1_000],
    [undefined, 500],
    [2, 1],
  ])
  expect(codeLines('')).toEqual([])
})

test.each([
  ['a carriage return, which would hide what stands before it', 'rm -rf /\recho', 'U+000D'],
  ['an escape sequence', '\u001b[8mhidden', 'U+001B'],
  ['a change of direction', 'a\u202eb', 'U+202E'],
  ['a character without width', 'a\u200bb', 'U+200B'],
  ['a tag', 'a\u{e0041}b', 'U+E0041'],
])('%s is shown by its name', (_, text, name) => {
  const parts = partsOf(text)

  expect(parts.filter(({ isUnseen }) => isUnseen).map((part) => part.text)).toEqual([name])
  expect(unseenIn(`${text}\n`)).toBe(1)
})

test('ordinary text, tabs and signs with colours are shown as they are', () => {
  const text = '\techo "✔️ été"'

  expect(partsOf(text)).toEqual([{ text, isUnseen: false }])
  expect(unseenIn(`${text}\n${text}\n`)).toBe(0)
})

/** The texts that a comparison was made of, as far as it shows them. */
function sidesOf(rows: readonly CodeLine[]) {
  const of = (other: 'goes' | 'comes') =>
    rows.filter(({ kind }) => kind !== other && kind !== 'place').map(({ text }) => text)
  return { before: of('comes'), after: of('goes') }
}

test('a comparison shows changed lines with some around them', () => {
  const before = Array.from({ length: 40 }, (_, n) => `line ${n + 1}`)
  const after = before.toSpliced(19, 1, 'other', 'more')

  expect(comparedLines(before.join('\n'), after.join('\n'))).toEqual([
    { number: undefined, text: '@@ 17 → 17 @@', kind: 'place' },
    { number: 17, text: 'line 17' },
    { number: 18, text: 'line 18' },
    { number: 19, text: 'line 19' },
    { number: 20, text: 'line 20', kind: 'goes' },
    { number: 20, text: 'other', kind: 'comes' },
    { number: 21, text: 'more', kind: 'comes' },
    { number: 22, text: 'line 21' },
    { number: 23, text: 'line 22' },
    { number: 24, text: 'line 23' },
  ])
  expect(comparedLines('a\nb\n', 'a\nb\n')).toEqual([])
})

test('a comparison of any short texts has both whole, in their order', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 6 })
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const rows = comparedLines(before.join('\n'), after.join('\n'))
      fc.pre(before.join('\n') !== after.join('\n'))
      const { before: old, after: now } = sidesOf(rows)
      // Lines far from every change are left out at both ends.
      expect(before.join()).toContain(old.join())
      expect(after.join()).toContain(now.join())
    }),
  )
})

test('texts with too many changes are shown as replaced, in time', () => {
  const text = (word: string) => Array.from({ length: 20_000 }, (_, n) => `${word} ${n}`).join('\n')
  const began = performance.now()
  const rows = comparedLines(text('old'), text('new'))

  expect(rows.filter(({ kind }) => kind === 'goes')).toHaveLength(20_000)
  expect(rows.filter(({ kind }) => kind === 'comes')).toHaveLength(20_000)
  expect(performance.now() - began).toBeLessThan(5_000)
})

test('a name in a sentence shows the characters that would turn it', () => {
  expect(legible('eve\u202e\u2066 a réussi')).toBe('eveU+202EU+2066 a réussi')
  expect(legible('Zoé')).toBe('Zoé')
})

import { expect, test } from 'vitest'
import { pieces, typedBy, withCtrl } from '../../../panel/nouns/shell.ts'

const FRAME = 65_536

test.each([0, 1, FRAME, FRAME + 1, 3 * FRAME, 3 * FRAME + 5])(
  'a paste of %i bytes is split into accepted frames in order',
  (length) => {
    const bytes = Uint8Array.from({ length }, (_, n) => (n * 31) % 251)

    const sent = pieces(bytes)

    expect(sent.map((piece) => piece.length)).toEqual(
      Array.from({ length: Math.ceil(length / FRAME) }, (_, n) => Math.min(FRAME, length - n * FRAME)),
    )
    expect(Buffer.concat(sent).equals(bytes)).toBe(true)
  },
)

test.each([
  ['c', '\x03'],
  ['C', '\x03'],
  ['[', '\x1b'],
  [' ', '\0'],
  ['?', '\x7f'],
  ['1', '1'],
  ['\r', '\r'],
])('Ctrl and %j', (character, typed) => {
  expect(String.fromCharCode(withCtrl(character.charCodeAt(0)))).toBe(typed)
})

test('arrow keys follow the mode of the program', () => {
  expect(typedBy('up', false)).toBe('\x1b[A')
  expect(typedBy('up', true)).toBe('\x1bOA')
  expect(typedBy('left', true)).toBe('\x1bOD')
})

test('Escape and Tab type their control characters', () => {
  expect([typedBy('escape', true), typedBy('tab', true)]).toEqual(['\x1b', '\t'])
})

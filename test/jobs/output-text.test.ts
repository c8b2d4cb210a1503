import { isUtf8 } from 'node:buffer'
import { beforeEach, expect, test } from 'vitest'
import { createTextReader, cutText, type TextPiece } from '../../jobs/output-text.ts'
import { randomOf, rounds, seedOf } from '../rounds.ts'
import type { Random } from '../soak/random.ts'

const seed = seedOf('test/jobs/output-text.test.ts')
let random: Random

beforeEach(() => {
  random = randomOf(seed)
})

/** Cuts at random places, also into empty pieces. */
function cut(bytes: Buffer, longest: number): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = random.between(0, longest)
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return pieces
}

function read(pieces: readonly Buffer[], start = 0): TextPiece[] {
  const reader = createTextReader(start)
  return [...pieces.map((piece) => reader.push(piece)), reader.flush()]
}

const text = (pieces: readonly TextPiece[]) => Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()

/** Random bytes, of which many start, continue or break a character. */
function nasty(length: number): Buffer {
  const kinds = [
    0x41, 0x0a, 0x80, 0xbf, 0xc0, 0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xed, 0xa0, 0xf0, 0x9f, 0xa6, 0x8a, 0xf4, 0xf5, 0xff,
  ]
  return Buffer.from(Array.from({ length }, () => kinds[random.between(0, kinds.length - 1)] ?? 0))
}

test('valid text is returned unchanged, in whole characters, wherever it is cut', () => {
  const whole = Buffer.from('aé€🦊\r\n日本語'.repeat(50))
  for (const longest of [1, 2, 3, 5, 40]) {
    const pieces = read(cut(whole, longest))
    expect(Buffer.concat(pieces.map(({ bytes }) => bytes))).toEqual(whole)
    for (const { bytes } of pieces) expect(isUtf8(bytes)).toBe(true)
  }
})

test('bytes that are cut anywhere give the same text as one decode of all of them', () => {
  for (let round = 0; round < rounds(3_000, 30_000); round += 1) {
    const bytes = round % 2 ? random.bytes(random.between(0, 39)) : nasty(random.between(0, 39))
    const pieces = read(cut(bytes, random.between(1, 5)))
    expect(text(pieces), bytes.toString('hex')).toBe(bytes.toString('utf8'))
    for (const piece of pieces) expect(isUtf8(piece.bytes)).toBe(true)
  }
})

test('sourceEnd counts the bytes of the source: a reader that resumes at any boundary gets the same text', () => {
  for (let round = 0; round < rounds(500, 10_000); round += 1) {
    const bytes = round % 2 ? nasty(60) : Buffer.from('aé€🦊'.repeat(8))
    const pieces = read(cut(bytes, 4))
    let before = ''
    for (const { bytes: piece, sourceEnd } of pieces) {
      before += piece.toString()
      expect(before + text(read([bytes.subarray(sourceEnd)], sourceEnd))).toBe(bytes.toString('utf8'))
    }
    expect(pieces.at(-1)?.sourceEnd).toBe(bytes.length)
  }
})

test('sourceEnd never decreases, and stays at most three bytes behind', () => {
  const bytes = nasty(500)
  const reader = createTextReader(1000)
  let last = 1000
  for (let at = 0; at < bytes.length; at += 1) {
    const { sourceEnd } = reader.push(bytes.subarray(at, at + 1))
    expect(sourceEnd).toBeGreaterThanOrEqual(last)
    expect(sourceEnd).toBeGreaterThanOrEqual(1000 + at + 1 - 3)
    last = sourceEnd
  }
})

test('an incomplete character waits for its rest, and becomes U+FFFD at the end', () => {
  const reader = createTextReader(0)

  expect(reader.push(Buffer.from([0x61, 0xe2, 0x82]))).toEqual({ bytes: Buffer.from('a'), sourceEnd: 1 })
  expect(reader.push(Buffer.from([0xac]))).toEqual({ bytes: Buffer.from('€'), sourceEnd: 4 })
  expect(reader.push(Buffer.from([0xc3]))).toEqual({ bytes: Buffer.alloc(0), sourceEnd: 4 })
  expect(reader.flush()).toEqual({ bytes: Buffer.from('\ufffd'), sourceEnd: 5 })
  expect(reader.flush()).toEqual({ bytes: Buffer.alloc(0), sourceEnd: 5 })
})

test('the reader does not keep a chunk whose memory its source reuses', () => {
  const reader = createTextReader(0)
  const chunk = Buffer.from([0x61, 0xe2, 0x82])
  reader.push(chunk)

  chunk.fill(0)

  expect(reader.push(Buffer.from([0xac])).bytes.toString()).toBe('€')
})

test('text is cut between characters into pieces of the given length, or up to three bytes less', () => {
  const text = 'aé€🦊'.repeat(500)
  const whole = Buffer.from(text)
  for (const most of [4, 5, 7, 64, 4_999, 5_000, 9_999]) {
    const pieces = [...cutText(whole, most)]
    expect(pieces.map(String).join('')).toBe(text)
    expect(pieces.every(isUtf8)).toBe(true)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(most)
    expect(Math.min(...pieces.slice(0, -1).map(({ length }) => length))).toBeGreaterThan(most - 4)
  }
  expect([...cutText(Buffer.alloc(0), 10)]).toEqual([])
})

test('bytes that are not UTF-8 are cut too', () => {
  expect([...cutText(Buffer.alloc(100, 0x80), 10)].map(({ length }) => length)).toEqual(Array(10).fill(10))
})

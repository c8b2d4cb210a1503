import { expect, test } from 'vitest'
import { compareArchVersions } from '../../../functions/vulnerabilities/arch-version.ts'

/** Versions in the order of vercmp(8), by its page and by its test suite; those of one line are equal. */
const ORDERED = [
  ['1.0a', '0:1.0a'],
  ['1.0alpha'],
  ['1.0b', '1.0b-1'],
  ['1.0beta'],
  ['1.0p'],
  ['1.0pre'],
  ['1.0rc'],
  ['1.0', '01.0', '0:1.0', '1_0'],
  ['1.0.a', '1.0.a-1'],
  ['1.0.b'],
  ['1.0.1'],
  ['1.1', '1.1-1'],
  ['1.5b', '1.5b-1'],
  ['1.5-1', '1.5'],
  ['1.5.a'],
  ['1.5.b', '1.5.b-1'],
  ['1.5.0-1'],
  ['1.5.1-1', '1.5.1'],
  ['2.0a'],
  ['2.0', '2_0'],
  ['2.0.a', '2_0.a'],
  ['2.00000000000000000000001'],
  ['2.99999999999999999999998'],
  ['2.99999999999999999999999'],
  ['3.0.0'],
  ['1:1.0', '1:1.0-1'],
  ['1:1.1'],
  ['2:0.1'],
]

test('orders versions as vercmp(8) does', () => {
  for (const [at, ones] of ORDERED.entries())
    for (const [other, others] of ORDERED.entries())
      for (const a of ones)
        for (const b of others)
          expect([a, b, Math.sign(compareArchVersions(a, b))]).toEqual([a, b, Math.sign(at - other)])
})

test.each([
  ['1.5.0-1', '1.5.0-2', -1],
  ['1.5.0-2', '1.5.1-1', -1],
  ['1.5-2', '1.5.1-1', -1],
  ['1.0-1', '1.1', -1],
  ['1', '1.', -1],
  ['1.', '1.a', 1],
  ['a', 'a_', -1],
  ['2_a', '2___a', -1],
  ['.11', '11', 1],
  ['1-1', '1-1.1', -1],
  ['1-1', '1', 0],
  ['', '1', -1],
  ['', '', 0],
])('%s and %s', (a, b, order) => {
  expect(Math.sign(compareArchVersions(a, b))).toBe(order)
  expect(Math.sign(compareArchVersions(b, a))).toBe(-order + 0)
})

test('long and hostile versions take no time', () => {
  const began = performance.now()

  expect(compareArchVersions(`1.${'9'.repeat(1_000)}8`, `1.${'9'.repeat(1_000)}9`)).toBeLessThan(0)
  expect(compareArchVersions('.'.repeat(100_000), `${'.'.repeat(100_000)}1`)).toBe(0)
  expect(compareArchVersions('a1'.repeat(50_000), 'a1'.repeat(50_000))).toBe(0)
  expect(performance.now() - began).toBeLessThan(1_000)
})

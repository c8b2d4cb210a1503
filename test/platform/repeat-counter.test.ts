import { expect, test } from 'vitest'
import { createRepeatCounter } from '../../platform/recent-cache.ts'
import { NOW } from '../db/database.ts'

function repeats(options: Parameters<typeof createRepeatCounter>[1] = {}) {
  let now = Date.parse(NOW)
  const { count } = createRepeatCounter(() => new Date(now), options)
  return {
    count,
    /** Returns the recorded counts for this many repeats. */
    recorded: (what: string, times: number) =>
      Array.from({ length: times }, () => count(what)).filter((each) => each !== undefined),
    advance(ms: number) {
      now += ms
    },
  }
}

/** The first hundred counts, and then these. */
const hundredAnd = (...more: number[]) => [...Array.from({ length: 100 }, (_, at) => at + 1), ...more]

test('the first hundred repeats are recorded, then each doubling', () => {
  const { recorded } = repeats()

  expect(recorded('a', 1_100)).toEqual(hundredAnd(128, 256, 512, 1024))
})

test('a million repeats leave little more than a hundred records', () => {
  const { recorded } = repeats()

  expect(recorded('a', 1_000_000)).toHaveLength(113)
})

test('each key has a separate count', () => {
  const { recorded } = repeats()
  recorded('a', 127)

  expect(recorded('b', 101)).toEqual(hundredAnd())
  expect(recorded('a', 1)).toEqual([128])
})

test('the count restarts after a minute without repeats, and not before', () => {
  const { recorded, count, advance } = repeats()
  recorded('a', 101)

  advance(59_999)
  expect(count('a')).toBeUndefined()
  advance(60_000)
  expect(recorded('a', 101)).toEqual(hundredAnd())
})

test('hours of repeats without a quiet minute are one flood', () => {
  const { count, advance } = repeats()
  const recorded: number[] = []
  for (let n = 0; n < 1_000; n += 1) {
    advance(30_000)
    const times = count('a')
    if (times !== undefined) recorded.push(times)
  }

  expect(recorded).toEqual(hundredAnd(128, 256, 512))
})

test('with a limit of one, each doubling is still recorded', () => {
  const { recorded } = repeats({ allUpTo: 1 })

  expect(recorded('a', 20)).toEqual([1, 2, 4, 8, 16])
})

test('the quiet period before a restart can be longer', () => {
  const { recorded, count, advance } = repeats({ allUpTo: 1, quietMs: 3_600_000 })
  recorded('a', 4)

  advance(3_599_999)
  expect(count('a')).toBeUndefined()
  advance(3_600_000)
  expect(count('a')).toBe(1)
})

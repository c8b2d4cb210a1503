import { expect, test } from 'vitest'
import { createRecentCache } from '../../platform/recent-cache.ts'

test('the newest keys are kept, and never more than twice as many', () => {
  const recent = createRecentCache<number>(100)

  for (let key = 0; key < 10_000; key += 1) recent.set(`k${key}`, key)

  const known = Array.from({ length: 10_000 }, (_, key) => recent.get(`k${key}`)).filter((value) => value !== undefined)
  expect(recent.get('k9999')).toBe(9999)
  expect(known.length).toBeGreaterThanOrEqual(100)
  expect(known.length).toBeLessThanOrEqual(200)
})

test('a key that is used repeatedly outlives any number of others', () => {
  const recent = createRecentCache<string>(10)
  recent.set('mine', 'kept')

  for (let key = 0; key < 1_000; key += 1) {
    recent.set(`other${key}`, 'x')
    expect(recent.get('mine')).toBe('kept')
  }
})

test('a deleted key is gone from both generations', () => {
  const recent = createRecentCache<string>(1)
  recent.set('a', 'old')
  recent.set('b', 'young')

  recent.delete('a')
  recent.delete('b')

  expect([recent.get('a'), recent.get('b')]).toEqual([undefined, undefined])
})

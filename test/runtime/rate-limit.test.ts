import { expect, test } from 'vitest'
import { createLimiter, type RateLimit } from '../../runtime/rate-limit.ts'
import { NOW, openMigrated } from '../db/database.ts'
import { randomOf, seedOf } from '../rounds.ts'

const seed = seedOf('test/runtime/rate-limit.test.ts')

async function limiter() {
  let now = Date.parse(NOW)
  const { admit } = createLimiter(await openMigrated(), () => new Date(now))
  return {
    admit,
    advance(ms: number) {
      now += ms
    },
    now: () => now,
  }
}

/** The definition itself: all admitted times, searched at each request. */
function model(limit: number, windowMs: number) {
  const hits: number[] = []
  return (now: number): number => {
    const within = hits.filter((at) => at > now - windowMs)
    if (within.length < limit) {
      hits.push(now)
      return 0
    }
    return (within.at(-limit) ?? 0) + windowMs - now
  }
}

test.each([
  ['in memory', false],
  ['in the database', true],
])('the limiter admits exactly the requests that a sliding window admits, at random times (%s)', async (_, shared) => {
  const random = randomOf(seed)
  for (const limit of [1, 2, 5, 17]) {
    const { admit, advance, now } = await limiter()
    const rule: RateLimit = { limit, seconds: 3, by: 'address', shared }
    const expected = model(limit, 3_000)
    for (let round = 0; round < 600; round += 1) {
      advance(random.between(0, (random.chance(0.1) ? 4_000 : Math.floor(2_000 / limit)) - 1))
      expect(await admit('bucket', 'me', rule)).toBe(expected(now()))
    }
  }
})

test('no burst is possible at the turn of a minute', async () => {
  const { admit, advance } = await limiter()
  const rule: RateLimit = { limit: 10, seconds: 60, by: 'address' }
  advance(59_000)
  for (let round = 0; round < 10; round += 1) expect(admit('bucket', 'me', rule)).toBe(0)

  advance(1_000)
  expect(admit('bucket', 'me', rule)).toBe(59_000)
})

test('each caller and each bucket has a separate count', async () => {
  const { admit } = await limiter()
  const rule: RateLimit = { limit: 1, seconds: 60, by: 'address' }

  expect([admit('a', 'me', rule), admit('a', 'you', rule), admit('b', 'me', rule)]).toEqual([0, 0, 0])
  expect(admit('a', 'me', rule)).toBe(60_000)
})

test('a flood of addresses is remembered up to a bound, and a frequent one is not forgotten', async () => {
  const { admit } = await limiter()
  const rule: RateLimit = { limit: 1, seconds: 60, by: 'address' }
  admit('bucket', 'regular', rule)

  for (let round = 0; round < 120_000; round += 1) {
    admit('bucket', `address ${round}`, rule)
    if (round % 10_000 === 0) expect(admit('bucket', 'regular', rule)).toBe(60_000)
  }

  let remembered = 0
  for (let round = 119_999; round >= 0; round -= 1) if (admit('bucket', `address ${round}`, rule) !== 0) remembered += 1
  expect(remembered).toBeGreaterThan(10_000)
  expect(remembered).toBeLessThan(60_000)
})

test('a limit in the database applies to another instance and after a restart', async () => {
  const db = await openMigrated()
  const clock = () => new Date(NOW)
  const rule: RateLimit = { limit: 2, seconds: 60, by: 'address', shared: true }

  await createLimiter(db, clock).admit('login', 'me', rule)
  await createLimiter(db, clock).admit('login', 'me', rule)

  expect(await createLimiter(db, clock).admit('login', 'me', rule)).toBe(60_000)
})

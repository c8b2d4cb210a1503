import { expect, test } from 'vitest'
import { createReputation } from '../../ssh/login-check.ts'

test('successful addresses precede unknown ones, those precede failing ones, and more failures go later', () => {
  const reputation = createReputation()
  reputation.succeeded('regular')
  reputation.failed('once')
  reputation.failed('twice')
  reputation.failed('twice')

  const address = ['twice', 'once', 'stranger', 'regular'].sort((a, b) => reputation.rank(a) - reputation.rank(b))

  expect(address).toEqual(['regular', 'stranger', 'once', 'twice'])
  expect(reputation.rank('stranger')).toBe(0)
})

test('one success offsets all earlier failures', () => {
  const reputation = createReputation()
  for (let round = 0; round < 50; round += 1) reputation.failed('me')
  expect(reputation.rank('me')).toBe(50)

  reputation.succeeded('me')

  expect(reputation.rank('me')).toBe(-3)
})

test('a successful address may fail twice and stays first; after a third time it is unknown, not worse', () => {
  const reputation = createReputation()
  reputation.succeeded('me')

  for (const rank of [-2, -1, 0]) {
    reputation.failed('me')
    expect(reputation.rank('me')).toBe(rank)
  }
})

test('many successes do not offset a series of failures', () => {
  const reputation = createReputation()
  for (let round = 0; round < 50; round += 1) reputation.succeeded('me')

  for (let round = 0; round < 5; round += 1) reputation.failed('me')

  expect(reputation.rank('me')).toBe(2)
})

test('a flood of failing addresses is forgotten in time, and a frequent one is not', () => {
  const reputation = createReputation()
  reputation.succeeded('regular')
  reputation.failed('first')

  for (let n = 0; n < 30_000; n += 1) {
    reputation.failed(`address ${n}`)
    if (n % 5_000 === 0) expect(reputation.rank('regular')).toBe(-3)
  }

  expect(reputation.rank('regular')).toBe(-3)
  expect(reputation.rank('first')).toBe(0)
  expect(reputation.rank('address 29999')).toBe(1)
})

test('no number of failing addresses displaces a successful one', () => {
  const { rank, succeeded, failed } = createReputation()
  succeeded('here')

  for (let n = 0; n < 50_000; n += 1) failed(`there ${n}`)

  expect(rank('here')).toBeLessThan(0)
})

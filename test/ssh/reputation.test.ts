import { expect, test } from 'vitest'
import { createReputation } from '../../ssh/login-check.ts'

test('who was right goes before strangers, strangers before who was wrong, and the more often the later', () => {
  const reputation = createReputation()
  reputation.succeeded('regular')
  reputation.failed('once')
  reputation.failed('twice')
  reputation.failed('twice')

  const who = ['twice', 'once', 'stranger', 'regular'].sort((a, b) => reputation.rank(a) - reputation.rank(b))

  expect(who).toEqual(['regular', 'stranger', 'once', 'twice'])
  expect(reputation.rank('stranger')).toBe(0)
})

test('being right once makes up for whatever was wrong before', () => {
  const reputation = createReputation()
  for (let round = 0; round < 50; round += 1) reputation.failed('me')
  expect(reputation.rank('me')).toBe(50)

  reputation.succeeded('me')

  expect(reputation.rank('me')).toBe(-3)
})

test('who was right may mistype twice and still goes first; after a third time it is a stranger, not worse', () => {
  const reputation = createReputation()
  reputation.succeeded('me')

  for (const rank of [-2, -1, 0]) {
    reputation.failed('me')
    expect(reputation.rank('me')).toBe(rank)
  }
})

test('being right often is no credit for a series of mistakes', () => {
  const reputation = createReputation()
  for (let round = 0; round < 50; round += 1) reputation.succeeded('me')

  for (let round = 0; round < 5; round += 1) reputation.failed('me')

  expect(reputation.rank('me')).toBe(2)
})

test('a flood of strangers who are wrong is not remembered for ever, and who comes back often is', () => {
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

test('who was right is not forgotten for however many were wrong', () => {
  const { rank, succeeded, failed } = createReputation()
  succeeded('here')

  for (let n = 0; n < 50_000; n += 1) failed(`there ${n}`)

  expect(rank('here')).toBeLessThan(0)
})

import { expect, test } from 'vitest'
import { createStanding } from '../../runtime/standing.ts'

test('who was right goes before strangers, strangers before who was wrong, and the more often the later', () => {
  const standing = createStanding()
  standing.right('regular')
  standing.wrong('once')
  standing.wrong('twice')
  standing.wrong('twice')

  const who = ['twice', 'once', 'stranger', 'regular'].sort((a, b) => standing.rank(a) - standing.rank(b))

  expect(who).toEqual(['regular', 'stranger', 'once', 'twice'])
  expect(standing.rank('stranger')).toBe(0)
})

test('being right once makes up for whatever was wrong before', () => {
  const standing = createStanding()
  for (let round = 0; round < 50; round += 1) standing.wrong('me')
  expect(standing.rank('me')).toBe(50)

  standing.right('me')

  expect(standing.rank('me')).toBe(-3)
})

test('who was right may mistype twice and still goes first; after a third time it is a stranger, not worse', () => {
  const standing = createStanding()
  standing.right('me')

  for (const rank of [-2, -1, 0]) {
    standing.wrong('me')
    expect(standing.rank('me')).toBe(rank)
  }
})

test('being right often is no credit for a series of mistakes', () => {
  const standing = createStanding()
  for (let round = 0; round < 50; round += 1) standing.right('me')

  for (let round = 0; round < 5; round += 1) standing.wrong('me')

  expect(standing.rank('me')).toBe(2)
})

test('a flood of strangers who are wrong is not remembered for ever, and who comes back often is', () => {
  const standing = createStanding()
  standing.right('regular')
  standing.wrong('first')

  for (let n = 0; n < 30_000; n += 1) {
    standing.wrong(`address ${n}`)
    if (n % 5_000 === 0) expect(standing.rank('regular')).toBe(-3)
  }

  expect(standing.rank('regular')).toBe(-3)
  expect(standing.rank('first')).toBe(0)
  expect(standing.rank('address 29999')).toBe(1)
})

test('who was right is not forgotten for however many were wrong', () => {
  const { rank, right, wrong } = createStanding()
  right('here')

  for (let n = 0; n < 50_000; n += 1) wrong(`there ${n}`)

  expect(rank('here')).toBeLessThan(0)
})

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createReceived } from './received.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

test('consecutive pieces are complete, counted in bytes and not in characters', () => {
  const received = createReceived()

  received.take('déjà ', 7)
  received.take('設定', 13)
  received.finish(13)

  expect(received.at()).toBe(13)
  expect(received.result()).toEqual({ size: 13, sha256: sha256('déjà 設定'), lost: 0, repeated: 0, finals: 1 })
})

test('a byte that is skipped between two pieces counts as lost', () => {
  const received = createReceived()

  received.take('abc', 3)
  received.take('ef', 6)

  expect(received.result()).toMatchObject({ lost: 1, repeated: 0, size: 6, sha256: sha256('abcef') })
})

test('bytes that are missing between the last piece and the end count as lost', () => {
  const received = createReceived()

  received.take('abc', 3)
  received.finish(5)

  expect(received.result()).toMatchObject({ lost: 2, finals: 1 })
})

test('a byte that arrives twice counts as repeated, and once as received', () => {
  const received = createReceived()

  received.take('abc', 3)
  received.take('cd', 4)
  received.take('bc', 3)

  expect(received.result()).toMatchObject({ lost: 0, repeated: 3, size: 4, sha256: sha256('abcd') })
})

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { createReceived } from './received.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

test('consecutive pieces are complete, by the byte and not by the character', () => {
  const received = createReceived()

  received.take('déjà ', 7)
  received.take('設定', 13)
  received.finish(13)

  expect(received.at()).toBe(13)
  expect(received.result()).toEqual({ size: 13, sha256: sha256('déjà 設定'), lost: 0, repeated: 0, finals: 1 })
})

test('a byte skipped between two pieces is lost', () => {
  const received = createReceived()

  received.take('abc', 3)
  received.take('ef', 6)

  expect(received.result()).toMatchObject({ lost: 1, repeated: 0, size: 6, sha256: sha256('abcef') })
})

test('so are bytes between the last piece and the end', () => {
  const received = createReceived()

  received.take('abc', 3)
  received.finish(5)

  expect(received.result()).toMatchObject({ lost: 2, finals: 1 })
})

test('a byte that arrives again is repeated, and counts once as received', () => {
  const received = createReceived()

  received.take('abc', 3)
  received.take('cd', 4)
  received.take('bc', 3)

  expect(received.result()).toMatchObject({ lost: 0, repeated: 3, size: 4, sha256: sha256('abcd') })
})

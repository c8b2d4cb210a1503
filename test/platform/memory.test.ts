import { expect, test } from 'vitest'
import { free, freeOwn } from '../../platform/memory.ts'

const held = () => process.memoryUsage().arrayBuffers
const MIB = 1024 * 1024

test('bytes in memory of their own are freed at once, without a collection', () => {
  const before = held()
  for (let at = 0; at < 64; at += 1) free(Buffer.alloc(MIB, at).buffer)
  expect(held() - before).toBeLessThan(2 * MIB)
})

test('bytes that fill most of their memory are freed, once, whichever view is given', () => {
  const packet = Buffer.alloc(32_800, 'x')
  const [head, tail] = [packet.subarray(5, 32_000), packet.subarray(32_000)]
  freeOwn(tail)
  expect(head.length).toBe(31_995)
  freeOwn(head)
  freeOwn(head)
  expect([packet.length, head.length, tail.length]).toEqual([0, 0, 0])
})

test('Node’s pool, and memory that holds what others own, stay as they are', () => {
  const pooled = Buffer.from('a short line')
  const neighbour = Buffer.from('another line')
  const read = Buffer.alloc(64 * 1024, 'r')
  freeOwn(pooled)
  freeOwn(read.subarray(0, 32 * 1024))
  freeOwn(Buffer.alloc(0))
  freeOwn(new Uint8Array(new SharedArrayBuffer(8)))
  expect([`${pooled}`, `${neighbour}`, read.length]).toEqual(['a short line', 'another line', 64 * 1024])
})

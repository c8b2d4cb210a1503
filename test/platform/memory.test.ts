import { markAsUntransferable } from 'node:worker_threads'
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

test('memory of the size of Node’s pool is freed as well', () => {
  const sizes = [Buffer.poolSize, 64 * 1024, Buffer.from('a short line').buffer.byteLength]
  const memories = sizes.map((size) => Buffer.alloc(size).buffer)
  for (const memory of memories) free(memory)
  expect(memories.map(({ byteLength }) => byteLength)).toEqual([0, 0, 0])
})

test('memory that Node marks as shared, like its pool, is never transferred', () => {
  const memory = new ArrayBuffer(8)
  markAsUntransferable(memory)
  let transfers = 0
  // Newer versions of Node refuse the transfer by themselves; in older ones it would empty the buffers of others.
  Object.defineProperty(memory, 'transfer', { value: () => (transfers += 1) })
  free(memory)
  expect(transfers).toBe(0)
})

test('freeing Node’s pool, freed memory, shared memory or the memory of WebAssembly does nothing', () => {
  const pooled = Buffer.from('a short line')
  const freed = Buffer.alloc(MIB).buffer
  const shared = new SharedArrayBuffer(8)
  // The types of Node lack it.
  const { Memory } = Reflect.get(globalThis, 'WebAssembly')
  const grown: ArrayBuffer = new Memory({ initial: 1 }).buffer
  for (const memory of [pooled.buffer, freed, freed, shared, grown, new ArrayBuffer(0)]) free(memory)
  expect([`${pooled}`, freed.byteLength, shared.byteLength, grown.byteLength]).toEqual(['a short line', 0, 8, 65_536])
})

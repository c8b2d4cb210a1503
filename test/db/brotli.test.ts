import { expect, test } from 'vitest'
import { compress, decompress } from '../../db/libsql/brotli.ts'
import { free } from '../../platform/memory.ts'

const KIB = 1024
const LINE = 'Réception de : 7 http://mirror.example/debian bookworm/main amd64 ops-panel all 1.0-1 [64,0 ko]\n'
const row = Buffer.alloc(256 * KIB, LINE)

test('compressed bytes decompress to the same bytes, however long or random', () => {
  const random = crypto.getRandomValues(Buffer.alloc(60 * KIB))
  for (const bytes of [Buffer.from('x'), row, random, Buffer.concat(Array.from({ length: 9 }, () => row))])
    expect(decompress(compress(bytes)).equals(bytes)).toBe(true)
  expect(compress(row).length).toBeLessThan(row.length / 10)
})

test('compressing and decompressing leave nothing for a collection, once their results are freed', () => {
  const held = () => process.memoryUsage().arrayBuffers
  const round = () => {
    const chunk = compress(row)
    free(decompress(chunk).buffer)
    free(chunk.buffer)
  }
  round()
  const before = held()

  for (let at = 0; at < 200; at += 1) round()

  // zlib's own functions leave 16 KiB or more in each encoder, and the result: 200 × 272 KiB.
  expect(held() - before).toBeLessThan(200 * 4 * KIB)
})

test('bytes that are not Brotli are refused', () => {
  expect(() => decompress(Buffer.from('plain text'))).toThrow()
})

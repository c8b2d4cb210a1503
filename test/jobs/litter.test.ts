import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { litter } from '../../jobs/litter.ts'

const MIB = 1024 * 1024

test('buffers that nobody holds any more are freed, those that somebody holds are not', async () => {
  litter(4 * MIB)
  await pause(50)
  const before = process.memoryUsage().arrayBuffers
  const held: Buffer[] = []
  for (let at = 0; at < 160; at += 1) {
    const buffer = Buffer.alloc(64 * 1024, at)
    if (at % 4 === 0) held.push(buffer)
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThan(8 * MIB)

  litter(4 * MIB)

  // Another thread frees them.
  await expect.poll(() => process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * MIB)
  expect(held.map((buffer) => buffer[65_535])).toEqual(held.map((_, at) => (at * 4) % 256))
})

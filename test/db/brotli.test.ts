import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { compress } from '../../db/libsql/brotli.ts'

const KIB = 1024
const LINE = 'Réception de : 7 http://mirror.example/debian bookworm/main amd64 ops-panel all 1.0-1 [64,0 ko]\n'
const row = Buffer.alloc(256 * KIB, LINE)

test('what was compressed is got back whole, however long', () => {
  for (const bytes of [Buffer.from('x'), row, Buffer.concat(Array.from({ length: 9 }, () => row))])
    expect(brotliDecompressSync(compress(bytes)).equals(bytes)).toBe(true)
  expect(compress(row).length).toBeLessThan(row.length / 10)
})

test('a minor collection frees all that was needed for it', async () => {
  setFlagsFromString('--expose-gc')
  const collect = z.custom<(options: { type: 'minor' | 'major' }) => void>().parse(runInNewContext('gc'))
  const held = async (type: 'minor' | 'major') => {
    collect({ type })
    // Another thread frees it.
    await new Promise((resolve) => setTimeout(resolve, 50))
    return process.memoryUsage().arrayBuffers
  }
  compress(row)
  const before = await held('major')

  for (let at = 0; at < 400; at += 1) {
    compress(row)
    if (at % 16 === 15) collect({ type: 'minor' })
  }

  // Node's own function leaves 16 KiB each time, or more.
  await held('minor')
  expect((await held('minor')) - before).toBeLessThan(400 * 4 * KIB)
})

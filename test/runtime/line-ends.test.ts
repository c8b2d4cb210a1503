import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineEnds } from '../../runtime/line-ends.ts'

/** What a terminal with ONLCR makes of it. */
const passed = (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1')

test('what a terminal did to the line feeds is taken back exactly, wherever it is cut', () => {
  const byte = fc.oneof(fc.constantFrom(10, 13, 13, 10), fc.integer({ min: 0, max: 255 }))
  fc.assert(
    fc.property(
      fc.array(byte, { maxLength: 60 }),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      (all, cuts) => {
        const original = Buffer.from(all)
        const through = passed(original)
        const lines = createLineEnds()
        const restored: Buffer[] = []
        for (let at = 0, n = 0; at < through.length; n += 1) {
          const length = cuts[n % cuts.length] ?? 1
          restored.push(lines.restore(Buffer.from(through.subarray(at, at + length))))
          at += length
        }
        restored.push(lines.rest())

        expect(Buffer.concat(restored)).toEqual(original)
      },
    ),
  )
})

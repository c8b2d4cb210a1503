import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { createLineEnds, takeRestored } from '../../ssh/line-ends.ts'
import { rounds, seedOf } from '../rounds.ts'

/** Converts a text like a terminal with ONLCR. */
const passed = (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1')

test('the conversion of line feeds by a terminal is undone exactly, at any chunk boundary', () => {
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
    { seed: seedOf('test/ssh/line-ends.test.ts', 'unit-alone'), numRuns: rounds(100, 5_000) },
  )
})

afterEach(() => {
  vi.useRealTimers()
})

/** A terminal that prints on request, and its reader, which may be slow. */
function reading() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const terminal = new PassThrough()
  const taken: Buffer[] = []
  let busy: Promise<void> | undefined
  const end = takeRestored(terminal, (bytes) => {
    taken.push(Buffer.from(bytes))
    return busy
  })
  return {
    text: () => Buffer.concat(taken).toString(),
    async print(text: string) {
      terminal.write(text)
      await setImmediate()
    },
    /** Blocks the reader until the returned function is called. */
    blocks(): () => Promise<void> {
      let settle = () => {}
      busy = new Promise((resolve) => {
        settle = resolve
      })
      return async () => {
        busy = undefined
        settle()
        await setImmediate()
      }
    },
    async end() {
      terminal.end()
      await end
    },
  }
}

test('a return is held back as long as its reader is busy', async () => {
  const { text, print, blocks, end } = reading()
  const goOn = blocks()
  await print('y\r')
  await vi.advanceTimersByTimeAsync(60_000)
  await goOn()
  await print('\ny')
  await end()
  expect(text()).toBe('y\ny')
})

test('during a flood a return is held back for a second, otherwise until a key would have been answered', async () => {
  const { text, print, end } = reading()
  await print('a\r')
  await vi.advanceTimersByTimeAsync(19)
  expect(text()).toBe('a')
  await vi.advanceTimersByTimeAsync(1)
  expect(text()).toBe('a\r')

  const flood = 'y'.repeat(5_000)
  await print(`${flood}\r`)
  await vi.advanceTimersByTimeAsync(999)
  await print('\nb\r')
  await vi.advanceTimersByTimeAsync(999)
  expect(text()).toBe(`a\r${flood}\nb`)
  await vi.advanceTimersByTimeAsync(1)
  expect(text()).toBe(`a\r${flood}\nb\r`)
  await vi.advanceTimersByTimeAsync(60_000)
  await print('c\r')
  await vi.advanceTimersByTimeAsync(20)
  expect(text()).toBe(`a\r${flood}\nb\rc\r`)
  await end()
  expect(vi.getTimerCount()).toBe(0)
})
